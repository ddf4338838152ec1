internal import FeedLog
internal import FeedTransport

/// Sends the answers of a loop, and holds those that wait for durability.
///
/// An answer is sent at once if all changes that it may reflect are durable. Otherwise the outbox
/// holds it until then. Every answer may reflect a change that another client has just made: a read,
/// an error and the answer to a repeat, too. So each answer waits for the newest commit batch that
/// has any log entry, as of the release of the last lock of the answer's loop iteration.
final class Outbox {
    /// The answers of one loop iteration to one connection.
    private struct Answers {
        let recipient: Recipient
        let byteCount: Int
    }

    /// Answers that wait for one commit batch, in their order.
    private struct Batch {
        let commitBatch: UInt64
        var answers: [Answers]
        /// Their bytes, one after another; each entry of `answers` lies in one chunk.
        var chunks: [[UInt8]]
        /// The part of the bytes that the budget counts.
        var countedByteCount = 0
        /// The part that it does not count yet.
        var uncountedByteCount = 0
    }

    /// A list of more answers is not kept for the next batch.
    private static let keptCount = 16_384
    /// The size of a chunk: the answers of some thousand votes.
    private static let chunkByteCount = 64 * 1_024
    /// The chunks that are kept for the next batches: 8 MiB.
    private static let keptChunkCount = 128
    /// The least number of bytes that is added to the budget, which all loops share.
    private static let uncountedByteCount = 4 * 1_024

    private let logs: ChangeLogs?
    private let budget: BufferBudget
    private let counters: LoopCounters
    /// The last commit batch that is durable, as far as the loop was notified.
    private var durableBatch: UInt64
    /// The held answers in the order of their commit batches: one batch for the commit under way, and
    /// one for the next.
    private var batches: [Batch] = []
    /// Empty lists with room.
    private var spareAnswers: [Answers] = []
    private var spareChunkLists: [[[UInt8]]] = []
    private var spareChunks: [[UInt8]] = []
    private var heldCount = 0

    /// An outbox that holds nothing if there are no logs, and otherwise the answers that wait for
    /// later commit batches than `durableBatch`.
    init(
        _ logs: ChangeLogs?,
        durableBatch: UInt64,
        _ budget: BufferBudget,
        _ counters: LoopCounters
    ) {
        self.logs = logs
        self.durableBatch = durableBatch
        self.budget = budget
        self.counters = counters
    }

    /// Sends the answers of a loop iteration, after the release of its last lock.
    func send(_ bytes: RawSpan, to recipient: Recipient) {
        guard let logs, logs.newestBatch > durableBatch else {
            // The newest batch is durable, so the answers that waited for it have been released.
            recipient.send(bytes)
            return
        }
        guard recipient.isOpen else { return }
        recipient.hold(bytes.byteCount)
        append(bytes, Answers(recipient: recipient, byteCount: bytes.byteCount), logs.newestBatch)
    }

    /// Sends the answers that waited for commit batches up to this one, which are durable now.
    func release(through commitBatch: UInt64) {
        durableBatch = max(durableBatch, commitBatch)
        while let first = batches.first?.commitBatch, first <= durableBatch {
            var batch = batches.removeFirst()
            var next = 0
            for chunk in batch.chunks {
                chunk.withRawSpan { next = Self.release(batch.answers, from: next, in: $0) }
            }
            heldCount -= batch.answers.count
            budget.addReserved(-batch.countedByteCount)
            keep(&batch)
        }
        counters.setHeldAnswers(heldCount)
    }

    /// Sends the answers in one chunk; returns the number of the first answer behind it.
    private static func release(_ answers: [Answers], from first: Int, in chunk: RawSpan) -> Int {
        var number = first
        var offset = 0
        while offset < chunk.byteCount {
            let end = offset + answers[number].byteCount
            answers[number].recipient.release(chunk.extracting(offset..<end))
            offset = end
            number += 1
        }
        return number
    }

    private func append(_ bytes: RawSpan, _ entry: Answers, _ commitBatch: UInt64) {
        heldCount += 1
        if batches.last?.commitBatch != commitBatch { beginBatch(commitBatch) }
        let last = batches.count - 1
        batches[last].answers.append(entry)
        addChunk(fitting: bytes.byteCount, to: last)
        let chunk = batches[last].chunks.count - 1
        batches[last].chunks[chunk].append(copying: bytes)
        batches[last].uncountedByteCount += bytes.byteCount
        if batches[last].uncountedByteCount >= Self.uncountedByteCount {
            budget.addReserved(batches[last].uncountedByteCount)
            batches[last].countedByteCount += batches[last].uncountedByteCount
            batches[last].uncountedByteCount = 0
        }
    }

    private func beginBatch(_ commitBatch: UInt64) {
        var answers: [Answers] = []
        swap(&answers, &spareAnswers)
        batches.append(
            Batch(
                commitBatch: commitBatch,
                answers: answers,
                chunks: spareChunkLists.popLast() ?? []
            )
        )
        counters.setHeldAnswers(heldCount)
    }

    /// Adds a chunk to a batch if its last one has no room: chunks never grow, so bytes are copied
    /// once.
    private func addChunk(fitting byteCount: Int, to batch: Int) {
        if let last = batches[batch].chunks.indices.last {
            let used = batches[batch].chunks[last].count
            if used + byteCount <= batches[batch].chunks[last].capacity { return }
        }
        guard byteCount <= Self.chunkByteCount, let spare = spareChunks.popLast() else {
            var chunk: [UInt8] = []
            chunk.reserveCapacity(max(byteCount, Self.chunkByteCount))
            batches[batch].chunks.append(chunk)
            return
        }
        batches[batch].chunks.append(spare)
    }

    /// Keeps the memory of a batch that was sent for later ones: twice as much as it used, or one
    /// chunk less than was kept before where that is more.
    private func keep(_ batch: inout Batch) {
        // Swapped out, because emptying an array with two owners would copy it.
        var answers: [Answers] = []
        var chunks: [[UInt8]] = []
        swap(&answers, &batch.answers)
        swap(&chunks, &batch.chunks)
        let count = min(Self.keptChunkCount, max(2 * chunks.count, spareChunks.count - 1))
        while var chunk = chunks.popLast() {
            guard spareChunks.count < count, chunk.capacity < 2 * Self.chunkByteCount else {
                continue
            }
            chunk.removeAll(keepingCapacity: true)
            spareChunks.append(chunk)
        }
        while spareChunks.count > count { spareChunks.removeLast() }
        if spareChunkLists.count < 2 { spareChunkLists.append(chunks) }
        answers.removeAll(keepingCapacity: answers.count <= Self.keptCount)
        spareAnswers = answers
    }
}

@available(*, unavailable)
extension Outbox: Sendable {}
