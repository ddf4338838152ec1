import FeedOffline
import FeedTestSupport

/// An outbox that runs a function before it gives the first sequences of a sync.
struct HookedOutbox: OutboxFile {
    /// A function that runs once, however often an outbox is made.
    final class Hook: Sendable {
        private let body: Locked<(@Sendable () -> Void)?>

        init(_ body: @escaping @Sendable () -> Void) { self.body = Locked(body) }

        func run() {
            let body = body.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
        }
    }

    let file: any OutboxFile
    let hook: Hook

    func numberNext(of userID: UInt64) throws(OfflineError) -> [NumberedEntry] {
        hook.run()
        return try file.numberNext(of: userID)
    }

    func settle(
        _ outcomes: [(number: UInt64, outcome: OutboxOutcome)]
    ) throws(OfflineError) {
        try file.settle(outcomes)
    }
}
