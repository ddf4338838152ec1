package import FeedJournal

/// Takes commit batches once they are durable.
package protocol CommitBatchReceiver: Sendable {
    /// Takes a commit batch; returns an array to make the next one in. Never waits, however much it
    /// has.
    func submit(_ body: [UInt8], at position: JournalPosition) -> [UInt8]

    /// How much was taken and is not in the tables yet; to be asked for often.
    var backlog: CheckpointBacklog { get }

    /// All records up to this one are kept elsewhere, durably.
    var checkpointedRecord: UInt64 { get }
}
