internal import FeedLog
internal import FeedTransport

/// The one way of a loop's answers to its connections.
///
/// An answer is sent at once if all that it may reflect is durable, else it is kept here until
/// then. Every answer may reflect a change that somebody else has just made: a read, an error and
/// the answer to a repeat too. So each answer waits for the newest commit batch that holds any log
/// entry, as of the release of the last lock of the answer's loop iteration.
final class Outbox {
    /// The answers of one loop iteration to one connection, which owes its peer as many bytes.
    private struct Answers {
        let connection: TCPConnection
        let byteCount: Int
    }

    /// Answers that wait for one commit batch, in their order.
    private struct Batch {
        let commitBatch: UInt64
        var answers: [Answers]
        /// Their bytes, one after another; each entry of `answers` lies in one chunk.
        var chunks: [[UInt8]]
        /// How many of the bytes the budget was told of.
        var countedByteCount = 0
        var uncountedByteCount = 0
    }

    /// A list that held more is not kept for the next batch.
    private static let keptCount = 16_384
    /// The memory that answers are copied into, a piece: what the answers of some thousand votes take.
    private static let chunkByteCount = 64 * 1_024
    /// The chunks that are kept for the next batches: 8 MiB.
    private static let keptChunkCount = 128
    /// The budget, which all loops share, is told of no less.
    private static let uncountedByteCount = 4 * 1_024

    private let logs: ChangeLogs?
    private let budget: BufferBudget
    private let counters: LoopCounters
    /// All commit batches up to this one are durable, as far as the loop has heard.
    private var durableBatch: UInt64
    /// In the order of their commit batches: one for the commit under way, and one for the next.
    private var batches: [Batch] = []
    /// Empty lists with room.
    private var spareAnswers: [Answers] = []
    private var spareChunkLists: [[[UInt8]]] = []
    private var spareChunks: [[UInt8]] = []
    private var waitingCount = 0

    /// An outbox that keeps nothing without logs, else the answers that lie beyond a commit batch.
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

    /// Sends the answers of a loop iteration, after its last lock was let go of.
    func send(_ bytes: RawSpan, on connection: TCPConnection) {
        guard let logs, logs.newestBatch > durableBatch else {
            // The loop has heard that this batch is durable, and has released what waited for
            // earlier ones.
            connection.write(bytes)
            return
        }
        guard connection.isOpen else { return }
        connection.owe(bytes.byteCount)
        append(bytes, Answers(connection: connection, byteCount: bytes.byteCount), logs.newestBatch)
    }

    /// All commit batches up to this one are durable: sends the answers that waited for them.
    func release(through commitBatch: UInt64) {
        durableBatch = max(durableBatch, commitBatch)
        while let first = batches.first?.commitBatch, first <= durableBatch {
            var batch = batches.removeFirst()
            var next = 0
            for chunk in batch.chunks {
                chunk.withRawSpan { next = Self.write(batch.answers, from: next, in: $0) }
            }
            waitingCount -= batch.answers.count
            budget.addReserved(-batch.countedByteCount)
            keep(&batch)
        }
        counters.setHeldAnswers(waitingCount)
    }

    /// Writes the answers that lie in one chunk; returns the number of the first one behind it.
    private static func write(_ answers: [Answers], from first: Int, in chunk: RawSpan) -> Int {
        var number = first
        var offset = 0
        while offset < chunk.byteCount {
            let end = offset + answers[number].byteCount
            answers[number].connection.writeOwed(chunk.extracting(offset..<end))
            offset = end
            number += 1
        }
        return number
    }

    private func append(_ bytes: RawSpan, _ entry: Answers, _ commitBatch: UInt64) {
        waitingCount += 1
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
        counters.setHeldAnswers(waitingCount)
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

    /// Keeps the memory of a batch that was sent for those to come: as much as it used, and of what
    /// was kept before one chunk less each time.
    private func keep(_ batch: inout Batch) {
        // Swapped out: of what has two owners, a copy would be emptied.
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
