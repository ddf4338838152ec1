internal import FeedConcurrency
internal import FeedLog
internal import FeedRanking
internal import FeedState

/// The numbers of evicted channels, until their rows can be deleted.
///
/// The log entry that made a channel may still be on its way to `state.db` when the channel is
/// evicted. An earlier deletion would find nothing, and the row would stay. So a number waits until
/// all that was logged before its eviction is checkpointed.
final class EvictedChannels: Sendable {
    private struct Batch {
        /// The newest commit batch that may name the channels.
        let commitBatch: UInt64
        let numbers: [UInt64]
    }

    private let batches = Lock<[Batch]>([])

    /// Takes the newly evicted numbers, and deletes the rows that are due; O(numbers).
    func deleteRows(of channels: ChannelTable, in state: DurableState) {
        batches.withLock { batches in
            let evicted = channels.takeEvicted()
            if !evicted.isEmpty {
                batches.append(Batch(commitBatch: state.logs.newestBatch, numbers: evicted))
            }
            let checkpointed = state.checkpointThread.checkpointedRecord
            while let first = batches.first, first.commitBatch <= checkpointed {
                state.checkpointThread.deleteRows(ofChannels: first.numbers)
                batches.removeFirst()
            }
        }
    }
}
