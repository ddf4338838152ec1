internal import FeedConcurrency
internal import FeedTransport

/// The held answers of one loop, a list for each commit batch that is not durable.
///
/// A value, so that the outbox holds the answers of a loop iteration in one access to it. Every access to
/// a property of a class is checked at run time.
struct HeldBatches {
    /// The emptied lists that are kept: for the commit under way, and for the next.
    private static let spareCount = 2

    /// In the order of the commit batches: those of the commit under way, and those of the next.
    private var batches: [HeldAnswers] = []
    /// Emptied lists, whose memory is used again.
    private var spares: [HeldAnswers] = []
    private var chunkPool = ChunkPool()
    /// The writes in `batches`: one for each loop iteration of a connection, however many answers it has.
    private(set) var writeCount = 0

    /// Holds the answers of a loop iteration to a connection.
    ///
    /// - Returns: The bytes that the budget is to count now, and whether they are the first of their batch.
    mutating func hold(
        _ bytes: RawSpan,
        of calls: borrowing AnsweredCalls,
        for recipient: Recipient,
        until commitBatch: UInt64,
        since now: MonotonicInstant
    ) -> (uncountedByteCount: Int, beginsBatch: Bool) {
        writeCount += 1
        let beginsBatch = batches.last?.commitBatch != commitBatch
        if beginsBatch {
            var batch = spares.popLast() ?? HeldAnswers()
            batch.commitBatch = commitBatch
            batches.append(batch)
        }
        let last = batches.count - 1
        let count = batches[last].append(bytes, of: calls, to: recipient, since: now, &chunkPool)
        return (count, beginsBatch)
    }

    /// Takes the answers out that wait for the first commit batch; nil where it is a later one.
    mutating func takeFirst(through commitBatch: UInt64) -> HeldAnswers? {
        guard let first = batches.first?.commitBatch, first <= commitBatch else { return nil }
        let answers = batches.removeFirst()
        writeCount -= answers.writeCount
        return answers
    }

    /// Divides all answers, and keeps what stays held.
    ///
    /// - Returns: What is to be sent ahead, and the bytes by which the budget is to count more; below 0 for
    ///   less.
    mutating func divide(
        _ timer: CallTimer,
        _ divide: (RawSpan, ArraySlice<AnsweredCalls.Run>) -> HeldDivision
    ) -> (early: [EarlyWrite], byteCount: Int) {
        var early: [EarlyWrite] = []
        var byteCount = 0
        writeCount = 0
        for index in batches.indices {
            let (rest, restByteCount) = batches[index].divided(
                timer,
                &chunkPool,
                early: &early,
                divide
            )
            byteCount += restByteCount - batches[index].countedByteCount
            batches[index].removeAll(&chunkPool)
            batches[index] = rest
            writeCount += rest.writeCount
        }
        return (early, byteCount)
    }

    /// Takes the memory of answers back that have been sent.
    mutating func reuse(_ answers: consuming HeldAnswers) {
        answers.removeAll(&chunkPool)
        if spares.count < Self.spareCount { spares.append(answers) }
    }
}
