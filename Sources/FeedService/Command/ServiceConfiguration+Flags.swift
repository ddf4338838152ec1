internal import FeedState
internal import FeedTransport

extension ServiceConfiguration {
    /// Checks the flags; each error is one sentence that names the flag, the value and the limit.
    init(_ command: FeedServiceCommand) throws(ServiceStartError) {
        var addresses: [SocketAddress] = []
        for text in command.listen {
            let address: SocketAddress
            do {
                address = try SocketAddress(parsing: text)
            } catch {
                throw .badFlag("--listen", "\(error)")
            }
            guard address.isLoopback || command.insecure else {
                throw .badFlag(
                    "--listen",
                    "\(text) is not a loopback address: its traffic would be unencrypted, and "
                        + "every client could read, post and vote. Add --insecure to allow that."
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
        state = try StateOptions(command.state, logCount: threadCount)
        try command.backups.apply(to: &state)
        logsStateHash = command.state.stateHash
        if let path = command.serviceKeys { serviceKeys = try Self.serviceKeys(path) }
    }

    private static func serviceKeys(_ path: String) throws(ServiceStartError) -> ServiceKeys {
        do throws(ServiceKeyFileError) {
            return ServiceKeys(try ServiceKeyFile.read(path))
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
        guard let count = Int(text), (1...maximumThreadCount).contains(count) else {
            throw .badFlag("--threads", "expected 1 to \(maximumThreadCount), got \(text).")
        }
        return count
    }

    private static func stripeCount(_ text: String?) throws(ServiceStartError) -> Int? {
        guard let text else { return nil }
        guard let count = Int(text), (1...4096).contains(count), count & (count - 1) == 0 else {
            throw .badFlag("--stripes", "expected a power of two from 1 to 4096, got \(text).")
        }
        return count
    }
}
