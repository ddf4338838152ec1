internal import FeedRanking
internal import FeedState
internal import Synchronization

/// The numbers of evicted channels, until their rows can be deleted.
///
/// The effect that made a channel may still be on its way to `state.db` when the channel is evicted.
/// A deletion that came first would find nothing, and the row would stay. So a number waits until
/// all that was logged before its eviction is checkpointed.
final class EvictedChannels: Sendable {
    private struct Batch {
        /// The newest cut that may name the channels.
        let cut: UInt64
        let numbers: [UInt64]
    }

    private let batches = Mutex<[Batch]>([])

    /// Has the rows deleted whose turn has come; O(numbers).
    func handOver(from channels: RecordTable, to state: DurableState) {
        batches.withLock { batches in
            let evicted = channels.takeEvicted()
            if !evicted.isEmpty {
                batches.append(Batch(cut: state.logs.newestCut, numbers: evicted))
            }
            let checkpointed = state.checkpointing.checkpointedSequence
            while let first = batches.first, first.cut <= checkpointed {
                state.checkpointing.evict(first.numbers)
                batches.removeFirst()
            }
        }
    }
}
