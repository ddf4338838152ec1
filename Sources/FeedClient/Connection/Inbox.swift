import FeedConcurrency

/// What other threads have handed to the client's loop, and the loop has not taken yet.
///
/// One wake-up of the loop serves all entries that come before it runs, and an entry allocates nothing.
final class Inbox<Entry: Sendable>: Sendable {
    private let entries = Lock<[Entry]>([])

    /// An empty inbox.
    init() {}

    /// Adds an entry; true where the loop has to be told, as it has taken all entries before.
    func append(_ entry: Entry) -> Bool {
        entries.withLock { entries in
            entries.append(entry)
            return entries.count == 1
        }
    }

    /// Takes all entries, in their order, into an empty array, whose memory the next entries get.
    func take(into taken: inout [Entry]) {
        precondition(taken.isEmpty, "Entries that were taken are served before others.")
        entries.withLock { swap(&$0, &taken) }
    }
}
