internal import FeedJournal
internal import FeedState
internal import FeedTransport

extension ServiceConfiguration {
    /// Checks the flags; each error is one sentence that names the flag, the value and the limit.
    init(_ command: FeedServiceCommand) throws(ServiceStartError) {
        var addresses: [SocketAddress] = []
        let tls = try ServiceTLS(command.tls, command.operation)
        let listen = command.listen.isEmpty && tls == nil ? [Self.defaultAddress] : command.listen
        for text in listen {
            let address = try SocketAddress(text, of: "--listen")
            guard address.isLoopback || command.insecure else {
                throw .badFlag(
                    "--listen",
                    "\(text) is not a loopback address: its traffic would be unencrypted, and "
                        + "every client could read, post and vote. Take --listen-tls, or add "
                        + "--insecure to allow that."
                )
            }
            addresses.append(address)
        }
        self.init(
            addresses: addresses,
            threadCount: try Self.threadCount(command.threads),
            stripeCount: try Self.stripeCount(command.stripes)
        )
        hasSampleData = command.sampleData
        try limits.take(command.limits)
        try limits.posts.take(command.posts)
        admin = try command.operation.address
        state = try StateOptions(command.state, command.backups, logCount: threadCount)
        try take(command.cluster, command)
        logsStateHash = command.state.stateHash
        try setLog(command.log)
        self.tls = tls
        if let path = command.serviceKeys { serviceKeys = try Self.serviceKeys(path, tls) }
        guard tls?.admin == nil || asksWhoCalls else {
            throw .badFlag(
                "--admin-tls",
                "nobody could show who reads. Add --service-keys or --tls-client-ca."
            )
        }
        try take(command.proxy, insecure: command.insecure)
        guard command.insecure || insecureAddresses.isEmpty else {
            throw .badFlag(
                "--listen-tls",
                "\(insecureAddresses[0]) is not a loopback address, and nobody would have to prove "
                    + "who calls. Add --service-keys or --tls-client-ca, or --insecure to allow that."
            )
        }
    }

    /// Where the service listens if no flag names an address.
    static let defaultAddress = "127.0.0.1:7433"

    /// The values of flags that are not given and whose defaults are computed, by the names of the flags.
    var computedSettings: [String: String] {
        var texts = [
            "threads": "\(threadCount)", "stripes": "\(stripeCount)",
            "max-post-memory": "\(limits.posts.memoryByteCount)",
        ]
        if !addresses.isEmpty {
            texts["listen"] = addresses.map(\.description).joined(separator: ", ")
        }
        guard let state else { return texts }
        texts["data-dir"] = state.path
        texts["durability"] = state.durability.rawValue
        texts["keep-backups"] = "\(state.backups.keptCount)"
        return texts
    }

    private static func serviceKeys(
        _ path: String,
        _ tls: ServiceTLS?
    ) throws(ServiceStartError) -> ServiceKeys {
        do throws(ServiceKeyFileError) {
            let takesCertificates = tls?.asksForCertificates == true
            return ServiceKeys(
                try ServiceKeyFile.read(path, takesCertificates: takesCertificates)
            )
        } catch {
            throw .badFlag("--service-keys", "\(error)")
        }
    }

    private static func threadCount(_ text: String?) throws(ServiceStartError) -> Int {
        guard let text else {
            return defaultThreadCount(
                coreCount: coreCount,
                openFileLimit: ProcessSetup.raiseOpenFileLimit()
            )
        }
        return try FlagValue.number(text, "--threads", in: 1...maximumThreadCount)
    }

    private static func stripeCount(_ text: String?) throws(ServiceStartError) -> Int? {
        guard let text else { return nil }
        guard let count = Int(text), (1...4096).contains(count), count & (count - 1) == 0 else {
            throw .badFlag("--stripes", "expected a power of two from 1 to 4096, got \(text).")
        }
        return count
    }
}
