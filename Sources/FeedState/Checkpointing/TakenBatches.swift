/// The commit batches that the checkpoint thread has taken from the queue, in their order.
///
/// Those beyond a checkpoint's worth wait here unchanged while the previous checkpoint is written.
package struct TakenBatches {
    /// All that were taken; those that are added have no body any more.
    package internal(set) var commitBatches: [CommitBatchQueue.CommitBatch] = []
    /// Channels whose rows are deleted after these commit batches.
    package internal(set) var forgottenChannels: [UInt64] = []
    /// Bodies that the queue gets back.
    package internal(set) var spares: [[UInt8]] = []
    /// The first commit batch that is not added.
    private var next = 0

    /// No commit batches.
    package init() {}

    /// Whether all commit batches are added.
    package var isEmpty: Bool { next == commitBatches.count }

    /// Takes out the oldest commit batch; there has to be one.
    package mutating func removeFirst() -> CommitBatchQueue.CommitBatch {
        let commitBatch = commitBatches[next]
        commitBatches[next].body = []
        next += 1
        return commitBatch
    }

    /// Keeps the body of an added commit batch to be used again, where it is not too large and
    /// there are not too many.
    package mutating func reuse(_ body: [UInt8]) {
        guard body.capacity <= CommitBatchQueue.spareByteCount,
            spares.count < CommitBatchQueue.spareCount
        else { return }
        spares.append(body)
    }

    /// Forgets the commit batches and the channels, and keeps the memory.
    mutating func removeAll() {
        commitBatches.removeAll(keepingCapacity: true)
        next = 0
        forgottenChannels = []
    }
}
