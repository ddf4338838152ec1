internal import FeedConcurrency
internal import FeedRanking
internal import FeedTransport
internal import Logging

extension FeedServer {
    /// Where a started service listens.
    struct Listening {
        /// The addresses, with the ports that the system gave.
        var addresses: [SocketAddress] = []
        /// Those with TLS.
        var tlsAddresses: [SocketAddress] = []
        /// Secures the connections of these.
        var tlsAcceptor: TLSAcceptor?
    }

    /// How often a line says that `--insecure` is in use.
    private static let insecureLineInterval = Duration.seconds(60)

    /// Listens on the first loop, for all of them.
    static func listen(
        _ configuration: ServiceConfiguration,
        on threads: [EventLoopThread],
        of store: FeedStore,
        _ context: ServiceContext,
        _ logger: Logger
    ) throws(ServiceStartError) -> Listening {
        let result = Lock<Result<Listening, TransportError>>(.success(Listening()))
        let isDone = Semaphore()
        let targets = threads.map(\.mailbox)
        threads[0].mailbox.post { loop in
            let outcome = Result { () throws(TransportError) in
                try context.startMaintenance(on: loop, of: store, ServiceLoop.of(loop).log)
                try warnOfInsecureAddresses(configuration.insecureAddresses, on: loop, logger)
                try Watchdog(over: targets, for: configuration.supervisor).start(on: loop)
                return try listen(configuration, on: loop, for: targets)
            }
            result.withLock { $0 = outcome }
            isDone.signal()
        }
        isDone.wait()
        do throws(TransportError) {
            return try result.withLock { $0 }.get()
        } catch {
            throw .transport(error)
        }
    }

    private static func listen(
        _ configuration: ServiceConfiguration,
        on loop: EventLoop,
        for targets: [LoopMailbox]
    ) throws(TransportError) -> Listening {
        let serviceLoop = ServiceLoop.of(loop)
        var listening = Listening()
        for address in configuration.addresses {
            listening.addresses.append(
                try serviceLoop.listen(at: address, for: targets, proxies: configuration.proxies)
            )
        }
        guard let tls = configuration.tls else { return listening }
        let acceptor = TLSAcceptor(tls.context) { [log = serviceLoop.log] host, reason in
            log.failedHandshake("\(reason)", from: host)
        }
        listening.tlsAcceptor = acceptor
        for address in tls.addresses {
            listening.tlsAddresses.append(
                try serviceLoop.listen(
                    at: address,
                    for: targets,
                    security: acceptor,
                    proxies: configuration.proxies
                )
            )
        }
        return listening
    }

    private static func warnOfInsecureAddresses(
        _ addresses: [SocketAddress],
        on loop: EventLoop,
        _ logger: Logger
    ) throws(TransportError) {
        guard !addresses.isEmpty else { return }
        let line = OperatorLines.insecure(addresses)
        logger.warning("\(line)")
        try loop.addTimer(every: insecureLineInterval) { logger.warning("\(line)") }
    }
}
