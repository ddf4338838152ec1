internal import FeedConcurrency
package import FeedJournal

/// The durable commit batches on their way from the journal thread to the checkpoint thread.
///
/// The memory of the bodies comes back: a body that is added is given back with the next `take`,
/// and the journal thread makes a later commit batch in it.
package final class CommitBatchQueue: Sendable {
    /// The bytes of waiting commit batches at which the taker is woken.
    ///
    /// It looks by itself now and then. To wake it for each batch costs more than to add the batch.
    package static let wakingByteCount = 256 << 10
    /// How many bodies are kept to be used again, and how large they may be.
    package static let spareCount = 64
    package static let spareByteCount = 256 << 10

    /// A commit batch, and the record that it is in the journal.
    package struct CommitBatch: Sendable {
        package var body: [UInt8]
        package var position: JournalPosition
    }

    private struct Waiting {
        var commitBatches: [CommitBatch] = []
        var byteCount = 0
        var forgottenChannels: [UInt64] = []
        var spares: [[UInt8]] = []
    }

    private let waiting = Lock(Waiting())

    package init() {}

    /// Adds a commit batch; O(1).
    ///
    /// - Returns: An array to make a later commit batch in, and whether the taker is to be woken:
    ///   once for each time that so many bytes wait.
    package func submit(
        _ body: [UInt8],
        at position: JournalPosition
    ) -> (spare: [UInt8], isToWake: Bool) {
        waiting.withLock { waiting in
            waiting.commitBatches.append(CommitBatch(body: body, position: position))
            let wasFull = waiting.byteCount >= Self.wakingByteCount
            waiting.byteCount += body.count
            let isFull = waiting.byteCount >= Self.wakingByteCount
            return (waiting.spares.popLast() ?? [], isFull && !wasFull)
        }
    }

    package func deleteRows(ofChannels numbers: [UInt64]) {
        waiting.withLock { $0.forgottenChannels += numbers }
    }

    /// Takes all that waits into `taken`, whose commit batches are all added, and gives its bodies
    /// back; says whether there was anything; O(spares), as the journal thread uses the same lock.
    package func take(into taken: inout TakenBatches) -> Bool {
        taken.removeAll()
        waiting.withLock { waiting in
            swap(&waiting.commitBatches, &taken.commitBatches)
            swap(&waiting.forgottenChannels, &taken.forgottenChannels)
            waiting.byteCount = 0
            let room = Self.spareCount - waiting.spares.count
            waiting.spares += taken.spares.prefix(room)
        }
        taken.spares.removeAll(keepingCapacity: true)
        return !taken.commitBatches.isEmpty || !taken.forgottenChannels.isEmpty
    }
}

/// The commit batches that the checkpoint thread has taken from the queue, in their order.
///
/// Those beyond a checkpoint's worth wait here unchanged while the previous checkpoint is written.
package struct TakenBatches {
    /// All that were taken; those that are added have no body any more.
    package internal(set) var commitBatches: [CommitBatchQueue.CommitBatch] = []
    /// Channels whose rows are deleted after these commit batches.
    package internal(set) var forgottenChannels: [UInt64] = []
    package internal(set) var spares: [[UInt8]] = []
    private var next = 0

    package init() {}

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
