package import FeedState
package import FeedTransport
internal import Glibc

/// What a service is started with; made from checked flags, or by a test.
package struct ServiceConfiguration: Sendable {
    /// The addresses to listen on.
    package var addresses: [SocketAddress]
    /// The number of event loops.
    package var threadCount: Int
    /// The number of lock stripes, a power of two.
    package var stripeCount: Int
    /// Whether to start with the sample posts.
    package var hasSampleData = false
    /// Where the state is kept, and how; nil keeps it in memory.
    package var state: StateOptions?
    /// Whether to log a hash of the state when it was recovered, and at the end.
    package var logsStateHash = false
    /// A deliberate fault, or none.
    package var fault: VoteFault?
    /// The limits.
    package var limits = ServiceLimits()
    /// Tells the time of day, in Unix milliseconds; tests set a clock of their own.
    package var timeOfDay: @Sendable () -> Int64 = { WallClock.unixMilliseconds() }

    /// A configuration for one loopback address and defaults that suit it.
    package init(addresses: [SocketAddress], threadCount: Int, stripeCount: Int? = nil) {
        self.addresses = addresses
        self.threadCount = threadCount
        self.stripeCount = stripeCount ?? Self.defaultStripeCount(threadCount: threadCount)
    }

    /// Four stripes a thread keep two votes from meeting at one lock in all but a few percent of
    /// cases; sixteen at least, so that settling one stripe of a million posts is well under a
    /// millisecond.
    package static func defaultStripeCount(threadCount: Int) -> Int {
        var count = 16
        while count < 4 * threadCount { count *= 2 }
        return count
    }
}

extension ServiceConfiguration {
    /// The same with as many connections as the process may open files, less some for itself.
    func withinOpenFileLimit(_ openFileLimit: Int) -> ServiceConfiguration {
        var copy = self
        copy.limits.maximumConnectionCount = max(
            1,
            min(limits.maximumConnectionCount, openFileLimit - reservedFileCount)
        )
        return copy
    }

    /// Files that connections must leave to the rest of the process: four a loop for libuv, and
    /// some for listeners, the logs and what is to come.
    private var reservedFileCount: Int { 64 + 4 * threadCount }

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
                        + "whoever connects could read, post and vote. Add --insecure to allow that."
                )
            }
            addresses.append(address)
        }
        let threadCount = command.threads ?? Self.coreCount
        guard (1...256).contains(threadCount) else {
            throw .badFlag("--threads", "expected 1 to 256, got \(threadCount).")
        }
        self.init(addresses: addresses, threadCount: threadCount, stripeCount: command.stripes)
        guard (1...4096).contains(stripeCount), stripeCount & (stripeCount - 1) == 0 else {
            throw .badFlag(
                "--stripes",
                "expected a power of two from 1 to 4096, got \(stripeCount)."
            )
        }
        hasSampleData = command.sampleData
        state = try StateOptions(command.state, logCount: threadCount)
        logsStateHash = command.state.stateHash
        fault = command.fault
    }

    private static var coreCount: Int { max(1, min(256, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}
