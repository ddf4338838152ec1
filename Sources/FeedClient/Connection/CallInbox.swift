import FeedConcurrency
import FeedProto

/// The calls that tasks have made and the client's loop has not taken yet.
///
/// One wake-up of the loop serves all calls that come before it runs, and a call allocates nothing here.
final class CallInbox: Sendable {
    /// A call, its token, and the task that waits for its end.
    struct Entry: Sendable {
        let token: UInt64
        let task: CallTask
        let request: Request
        let minimumRevision: UInt64
        let actingUserID: UInt64
        let timeout: Duration
    }

    private let entries = Lock<[Entry]>([])

    /// An empty inbox.
    init() {}

    /// Adds a call; true where the loop has to be told, as it has taken all calls before.
    func append(_ entry: Entry) -> Bool {
        entries.withLock { entries in
            entries.append(entry)
            return entries.count == 1
        }
    }

    /// Takes all calls, in their order, into an empty array, whose memory the next calls get.
    func take(into taken: inout [Entry]) {
        precondition(taken.isEmpty, "Calls that were taken are submitted before others.")
        entries.withLock { swap(&$0, &taken) }
    }
}
