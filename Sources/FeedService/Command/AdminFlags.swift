internal import ArgumentParser
internal import FeedTransport

struct AdminFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The operator's address: HTTP with /metrics, /live, /ready and a dashboard. Port 0 takes a "
                + "free one. (default: none)",
            valueName: "host:port"
        )
    )
    var admin: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The operator's address with TLS 1.3, for other machines: a reader shows a service key with "
                + "a role other than app, or a certificate. Needs --tls-cert and --tls-key. "
                + "(default: none)",
            valueName: "host:port"
        )
    )
    var adminTls: String?

    @Flag(
        name: .long,
        help: "Allow an --admin that is not loopback: everybody reads how the service is doing."
    )
    var adminInsecure = false

    /// The plain address; nil if none is given.
    ///
    /// - Throws: If it is none, or not loopback without `--admin-insecure`.
    var address: SocketAddress? {
        get throws(ServiceStartError) {
            guard let address = try Self.address("--admin", admin) else { return nil }
            guard address.isLoopback || adminInsecure else {
                throw .badFlag(
                    "--admin",
                    "\(address) is not a loopback address: everybody could read how the service is "
                        + "doing. Take --admin-tls, or add --admin-insecure to allow that."
                )
            }
            return address
        }
    }

    var tlsAddress: SocketAddress? {
        get throws(ServiceStartError) { try Self.address("--admin-tls", adminTls) }
    }

    private static func address(
        _ flag: String,
        _ text: String?
    ) throws(ServiceStartError) -> SocketAddress? {
        guard let text else { return nil }
        do {
            return try SocketAddress(parsing: text)
        } catch {
            throw .badFlag(flag, "\(error)")
        }
    }
}
