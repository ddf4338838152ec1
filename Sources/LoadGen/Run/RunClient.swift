package import FeedClient
import FeedProto
import FeedText
import FeedTransport

extension RunConfiguration {
    /// Connects the client that prepares the run or audits it.
    ///
    /// - Parameters:
    ///   - addresses: Where the service listens; they are tried in their order.
    ///   - clientID: The identity under which changes are sent again; nil for reads alone.
    ///   - waitsForService: Whether the first connection is tried as often as a lost one, because
    ///     the service was reachable before.
    /// - Returns: The client, which the caller closes.
    /// - Throws: A ``FeedClientError`` where no connection opens.
    func connect(
        to addresses: [SocketAddress],
        as clientID: ClientID? = nil,
        waitsForService: Bool
    ) async throws(FeedClientError) -> FeedClient {
        var client = ClientConfiguration()
        client.clientName = "loadgen"
        client.clientID = clientID
        client.serviceKey = serviceKey
        client.tls = tls
        client.tls?.serverName = tls?.serverName ?? targetHost
        client.channel = RunIdentity.controlChannel
        client.connectTimeout = connectTimeout
        client.timeout = Self.callTimeout * (retryLimit + 1)
        client.keepAliveInterval = Self.silence
        client.keepAliveTimeout = Self.silence
        client.retry = retryPolicy
        // The load goes to the target alone, and so does what prepares and audits it.
        client.staysAtAddresses = true
        if waitsForService, retryLimit > 0 {
            client.waitsForService = true
            client.openTimeout = (connectTimeout + retryPolicy.maximumDelay) * (retryLimit + 1)
        }
        guard !hasSeveralTargets else {
            // The certificate of each service has to name that service.
            client.tls?.serverName = tls?.serverName
            return try await FeedClient.connect(to: targets, configuration: client)
        }
        return try await FeedClient.connect(to: addresses.map(\.description), configuration: client)
    }

    /// Whether one of several services may soon take the connection that none has taken, as in a failover.
    package func asksAgain(after error: FeedClientError) -> Bool {
        guard hasSeveralTargets else { return false }
        return switch error {
        case .refused(let status): status.isForOthers
        case .cannotConnect(let reason): reason == TransportError.connectionRefused.description
        default: false
        }
    }

    /// A healthy service answers a call of a run within milliseconds.
    private static let callTimeout = Duration.seconds(30)
    /// How long a service may be silent before it is asked for a sign of life, and how long it may
    /// take to give one.
    private static let silence = Duration.seconds(5)
}

extension FeedClientError {
    /// The cause for the report of a run, in a sentence that is safe to print.
    var cause: String { VisibleText.line(rawCause) }

    private var rawCause: String {
        switch self {
        case .cannotConnect(let reason), .unknownHost(_, let reason), .badAddress(let reason):
            reason
        case .refused(let status) where status.reason == .rateLimited:
            "\(status) \(Failures.limitHint)"
        case .refused(let status): status.description
        case .connectionLost, .deadlinePassed, .cancelled, .closed:
            "The connection ended or no answer came in time."
        case .protocolViolation, .requestTooLarge:
            "The answer is not one that the protocol allows."
        case .inDoubt:
            "The service came back and no longer knows which calls of this run it had executed."
        }
    }
}

extension RunFailure {
    init(_ error: any Error, while step: String) {
        guard let error = error as? FeedClientError else {
            self = .system("\(error)")
            return
        }
        switch error {
        case .connectionLost, .deadlinePassed, .cancelled, .closed:
            self = .connectionLost(step: step)
        case .cannotConnect, .unknownHost, .badAddress:
            self = .unreachableAgain(step: step, cause: error.cause)
        case .refused, .inDoubt, .protocolViolation, .requestTooLarge:
            self = .refused(step: step, cause: error.cause)
        }
    }
}

extension RunConfiguration {
    /// The addresses of the target, in the order in which to try them; looks a name up, which blocks.
    func addresses(by lookup: HostLookup) throws(RunFailure) -> [SocketAddress] {
        do throws(TransportError) {
            switch try Endpoint(parsing: target) {
            case .address(let address): return [address]
            case .name(let name, let port): return try lookup.addresses(of: name, port: port)
            }
        } catch .invalidAddress(let text, let cause) {
            throw .badTarget(
                flag: targetFlag,
                TransportError.invalidAddress(text, cause).description
            )
        } catch {
            throw .unreachable(target: target, cause: error.description)
        }
    }

    /// The services of the target, if it names several, each at the first address of its name.
    ///
    /// Looks names up, which blocks.
    func services(by lookup: HostLookup) throws(RunFailure) -> [LoadService] {
        guard hasSeveralTargets else { return [] }
        var services: [LoadService] = []
        for text in targets {
            var one = self
            one.target = text
            guard let address = try one.addresses(by: lookup).first,
                let endpoint = try? Endpoint(parsing: text)
            else { throw .unreachable(target: text, cause: "It has no address.") }
            services.append(
                LoadService(endpoint: endpoint, address: address, security: one.tlsTarget)
            )
        }
        return services
    }

    /// The host of the target as it is written, which the service's certificate has to name.
    private var targetHost: String? { Endpoint.host(in: target) }

    /// How a connection under load is secured; nil where it is plain.
    var tlsTarget: TLSTarget? {
        security?.target(for: .name(targetHost ?? target, port: 0))
    }
}
