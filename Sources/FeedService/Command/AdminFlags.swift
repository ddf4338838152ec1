internal import ArgumentParser
internal import FeedTransport

/// The flags of the operator's address.
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

    /// The address; nil where none is given.
    ///
    /// - Parameter insecure: Whether an address may be other than loopback.
    /// - Returns: The address.
    /// - Throws: Where it is none, or not loopback.
    func address(insecure: Bool) throws(ServiceStartError) -> SocketAddress? {
        guard let admin else { return nil }
        let address: SocketAddress
        do {
            address = try SocketAddress(parsing: admin)
        } catch {
            throw .badFlag("--admin", "\(error)")
        }
        guard address.isLoopback || insecure else {
            throw .badFlag(
                "--admin",
                "\(admin) is not a loopback address: everybody could read how the service is doing. "
                    + "Add --insecure to allow that."
            )
        }
        return address
    }
}
