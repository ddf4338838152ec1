import FeedConcurrency
import FeedTransport

/// How the driver opens a connection: the services in turn, and the addresses of each.
extension SessionDriver {
    /// Tries the services, which share the time.
    func connect(_ timeout: Duration) {
        connect(to: route.begin(), timeout / route.count)
    }

    /// Gives up the connection or the try to open one; the next try begins with another service.
    func abandon() {
        lookupNumber += 1
        dialer = nil
        wire?.drop()
        wire = nil
        route.avoid()
    }

    /// The next address of the service, or the next service.
    func dialNext() {
        while let dialer, let address = self.dialer?.next() {
            let wire = WireConnection(self, KeepAlive(configuration, at: loop.now))
            do throws(TransportError) {
                try loop.connect(
                    to: address,
                    timeout: dialer.timeout,
                    security: dialer.security,
                    handler: wire
                )
                self.wire = wire
                return
            } catch {
                self.dialer?.failed(error)
            }
        }
        guard let dialer else { return }
        self.dialer = nil
        failed(dialer.ending, dialer.wholeTimeout)
    }

    private func connect(to endpoint: Endpoint, _ timeout: Duration) {
        switch endpoint {
        case .address(let address): dial([address], of: endpoint, timeout)
        case .name(let name, let port):
            lookupNumber += 1
            do throws(TransportError) {
                try configuration.hostLookup.start(name, port: port, on: loop.mailbox) {
                    [place, number = lookupNumber] in
                    SessionDriver.of($0, place).lookedUp($1, of: endpoint, number: number, timeout)
                }
            } catch {
                failed(.cannotConnect(error.description), timeout)
            }
        }
    }

    private func lookedUp(
        _ answer: HostLookup.Answer,
        of endpoint: Endpoint,
        number: Int,
        _ timeout: Duration
    ) {
        // A try that was given up meanwhile has another number.
        guard number == lookupNumber else { return }
        switch answer {
        case .success(let addresses): dial(addresses, of: endpoint, timeout)
        case .failure(.unknownHost(let name, let reason)):
            failed(.unknownHost(name, reason), timeout)
        case .failure(let error):
            failed(.cannotConnect(error.description), timeout)
        }
        proceed()
    }

    private func dial(
        _ addresses: [SocketAddress],
        of endpoint: Endpoint,
        _ timeout: Duration
    ) {
        dialer = Dialer(
            addresses,
            timeout: timeout,
            security: configuration.security?.target(for: endpoint)
        )
        dialNext()
    }

    /// Goes on with the next service, or ends the try.
    private func failed(_ ending: Ending, _ timeout: Duration) {
        guard let endpoint = route.next() else {
            return session.disconnected(ending, at: loop.now)
        }
        connect(to: endpoint, timeout)
    }
}

extension KeepAlive {
    fileprivate init(_ configuration: ClientConfiguration, at now: MonotonicInstant) {
        self.init(
            interval: configuration.keepAliveInterval,
            timeout: configuration.keepAliveTimeout,
            at: now
        )
    }
}
