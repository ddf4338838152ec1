import FeedLog
import FeedRanking

extension FeedStore {
    /// A store with the state after some log entries.
    static func replaying(
        _ bodies: some Sequence<[UInt8]>,
        stripeCount: Int
    ) throws -> FeedStore {
        let store = FeedStore(stripeCount: stripeCount) { 0 }
        try store.replay(bodies)
        return store
    }

    /// Applies the log entries of bodies in their order.
    func replay(_ bodies: some Sequence<[UInt8]>) throws {
        for body in bodies {
            var reader = try LogEntryReader(body)
            while let entry = try reader.next() { try apply(entry) }
        }
    }
}
