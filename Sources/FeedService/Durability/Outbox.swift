internal import FeedConcurrency
internal import FeedLog
internal import FeedState
internal import FeedTransport

/// Sends the answers of a loop, and holds those that wait for durability.
///
/// An answer is sent at once if all changes that it may reflect are durable. Otherwise the outbox
/// holds it until then. Every answer may reflect a change that another client has just made: a read,
/// an error and the answer to a repeat, too. So each answer waits for the newest commit batch that
/// has any log entry, as of the release of the last lock of the answer's loop iteration.
///
/// The leader of a cluster holds all answers: each waits also for proof that the service still led after
/// it was executed (``AnswerCondition``).
final class Outbox {
    private let state: DurableState?
    private let logs: ChangeLogs?
    private let budget: BufferBudget
    private let counters: LoopCounters
    private let timer: CallTimer
    /// The last commit batch that is durable, as far as the loop was notified.
    private var durableBatch: UInt64
    /// The last round of reads that is proven, as far as the loop was notified.
    private var provenRound: UInt64 = 0
    /// Answers are held if there is a commit batch of this number or above: the one behind the last that is
    /// durable, and 0 for the leader of a cluster.
    private var firstHeldBatch: UInt64
    private var held = HeldBatches()

    /// An outbox that holds nothing if there is no state that outlives the process, and otherwise the
    /// answers that wait for later commit batches than are durable.
    init(
        _ state: DurableState?,
        _ budget: BufferBudget,
        _ counters: LoopCounters,
        timer: CallTimer
    ) {
        self.timer = timer
        self.state = state
        logs = state?.logs
        durableBatch = state?.journal.durableBatch ?? 0
        firstHeldBatch = durableBatch + 1
        self.budget = budget
        self.counters = counters
    }

    /// The newest commit batch that an answer may have to wait for.
    var newestBatch: UInt64 { logs?.newestBatch ?? 0 }

    /// Whether answers that waited for a commit batch have been sent.
    func isDurable(_ commitBatch: UInt64) -> Bool { commitBatch <= durableBatch }

    /// Sends the answers of a loop iteration, after the release of its last lock, and times their calls:
    /// now, or once they are released.
    ///
    /// The clock is read once for each write, however many answers it has.
    ///
    /// If a call has a secret, the bytes are overwritten once they are sent.
    func send(_ bytes: RawSpan, of calls: borrowing AnsweredCalls, to recipient: Recipient) {
        let firstHeldBatch = firstHeldBatch
        guard let logs, logs.newestBatch >= firstHeldBatch else {
            // The newest batch is durable, so the answers that waited for it have been released.
            recipient.send(bytes)
            timer.count(calls, from: recipient)
            return
        }
        guard recipient.isOpen else {
            // The peer has gone; its calls were executed all the same.
            timer.count(calls, from: recipient)
            return
        }
        var condition = AnswerCondition(logs.newestBatch)
        if firstHeldBatch == 0 { addProof(to: &condition, logs) }
        guard calls.ahead.isEmpty else {
            return sendAhead(bytes, of: calls, to: recipient, until: condition)
        }
        hold(bytes, of: calls, for: recipient, until: condition)
    }

    /// Asks for the proof that the service led after the answers were executed that wait for the condition.
    @inline(never)
    private func addProof(to condition: inout AnswerCondition, _ logs: ChangeLogs) {
        condition.provingBatch = logs.openBatch
        // The open batch is proposed later than now, so its commit is the proof.
        guard condition.provingBatch != condition.commitBatch, let state else { return }
        condition.round = state.askForProof()
    }

    private func hold(
        _ bytes: RawSpan,
        of calls: borrowing AnsweredCalls,
        for recipient: Recipient,
        until condition: AnswerCondition
    ) {
        recipient.hold(bytes.byteCount)
        let (uncountedByteCount, beginsBatch) = held.hold(
            bytes,
            of: calls,
            for: recipient,
            until: condition,
            since: timer.now
        )
        if uncountedByteCount > 0 { budget.addReserved(uncountedByteCount) }
        if beginsBatch { counters.set(.heldWrites, to: held.writeCount) }
    }

    /// Sends the answers that are not held, and holds the others.
    private func sendAhead(
        _ bytes: RawSpan,
        of calls: borrowing AnsweredCalls,
        to recipient: Recipient,
        until condition: AnswerCondition
    ) {
        var rest: [UInt8] = []
        var end = 0
        for range in calls.ahead {
            rest.append(copying: bytes.extracting(end..<range.lowerBound))
            recipient.sendAhead(bytes.extracting(range))
            end = range.upperBound
        }
        rest.append(copying: bytes.extracting(end..<bytes.byteCount))
        guard !rest.isEmpty else { return timer.count(calls, from: recipient) }
        var restCalls = AnsweredCalls()
        restCalls.begin(at: calls.arrival)
        for run in calls.runs { restCalls.add(run.method, run.count, firstID: run.firstID) }
        restCalls.hasSecret = calls.hasSecret
        rest.withRawSpan { hold($0, of: restCalls, for: recipient, until: condition) }
    }

    /// Divides all answers that are held, as a commit stands still, and sends a part of them ahead.
    func sendHeldAhead(
        _ divide: (RawSpan, ArraySlice<AnsweredCalls.Run>) -> HeldDivision
    ) {
        let (early, byteCount) = held.divide(timer, divide)
        budget.addReserved(byteCount)
        counters.set(.heldWrites, to: held.writeCount)
        // Not before, as a connection that reads again may have more answers held.
        for write in early { write.send() }
    }

    /// Sends all answers that waited for commit batches up to this one, which are durable now.
    func release(through commitBatch: UInt64) {
        durableBatch = max(durableBatch, commitBatch)
        if firstHeldBatch > 0 { firstHeldBatch = durableBatch + 1 }
        releaseAnswers()
    }

    /// Sends all answers that waited only for the proof of rounds up to this one.
    func prove(through round: UInt64) {
        provenRound = max(provenRound, round)
        releaseAnswers()
    }

    /// The service leads a cluster: from now on no answer is sent without proof that it still does.
    func lead() { firstHeldBatch = 0 }

    private func releaseAnswers() {
        while let answers = held.takeFirst(through: durableBatch, provenRound) {
            answers.release(timer)
            budget.addReserved(-answers.countedByteCount)
            held.reuse(consume answers)
        }
        counters.set(.heldWrites, to: held.writeCount)
    }
}

/// What held answers wait for.
///
/// On a machine of its own that is the commit batch. The leader of a cluster may have been followed by
/// another one whose changes its answer lacks. So the answer also waits for proof that the service led after
/// it was executed: a round of reads that was asked for then, or the commit of a batch that was proposed
/// then.
package struct AnswerCondition: Equatable, BitwiseCopyable {
    /// The newest commit batch that the answer may reflect.
    package var commitBatch: UInt64
    /// The round that proves the answer; 0 is none.
    package var round: UInt64 = 0
    /// The commit batch that proves it, as it was not proposed yet.
    package var provingBatch: UInt64

    /// An answer that only waits for a commit batch.
    package init(_ commitBatch: UInt64) {
        self.commitBatch = commitBatch
        provingBatch = commitBatch
    }

    /// Whether it holds once all commit batches up to one are durable and all rounds up to one proven.
    ///
    /// Of the conditions of a loop each holds if a later one does: the batches do not fall, nor do the rounds
    /// that are asked for.
    package func holds(_ durableBatch: UInt64, _ provenRound: UInt64) -> Bool {
        durableBatch >= provingBatch
            || (durableBatch >= commitBatch && round > 0 && provenRound >= round)
    }
}

@available(*, unavailable)
extension Outbox: Sendable {}

/// A connection that a loop's ``Outbox`` sends answers to, and the count of the bytes that the outbox
/// holds for it.
///
/// Held bytes are unsent like those that the transport has. Together they are limited: above the
/// limit the connection is suspended, so that nothing more is executed for it. It is closed only
/// after its held answers have been sent.
final class Recipient {
    /// The transport releases its handler, and with it this object, once the connection is closed.
    private let connection: TCPConnection
    /// The unsent bytes at which the connection is suspended.
    private let unsentLimitByteCount: Int
    /// The answers that the outbox holds.
    private var heldByteCount = 0
    private var isSuspended = false
    private var closesAfterRelease = false

    private static var hotByteCount: Int { 48 }

    init(_ connection: TCPConnection, unsentLimitByteCount: Int) {
        self.connection = connection
        self.unsentLimitByteCount = unsentLimitByteCount
    }

    var peer: SocketAddress { connection.peer }

    /// The bytes of answers that the peer's kernel or this one has not taken.
    var unsentByteCount: Int { heldByteCount + connection.pendingByteCount }

    var isOpen: Bool { connection.isOpen }

    /// Its memory and its connection's, to be requested some time before answers are released.
    var memory: Memory {
        Memory(
            own: .of(self, byteCount: Self.hotByteCount),
            connection: .of(connection, byteCount: TCPConnection.hotByteCount)
        )
    }

    /// Requests its own memory, some time before answers are held.
    func prefetch() { ObjectMemory.of(self, byteCount: Self.hotByteCount).prefetch() }

    /// Sends answers that need not be held.
    func send(_ bytes: RawSpan) {
        precondition(heldByteCount == 0, "An answer would pass those that are held.")
        connection.write(bytes)
    }

    /// Sends answers that pass those that are held.
    func sendAhead(_ bytes: RawSpan) { connection.write(bytes) }

    func hold(_ byteCount: Int) {
        heldByteCount += byteCount
        if unsentByteCount >= unsentLimitByteCount { suspend() }
    }

    /// Sends the first of the answers that are held; without effect where the connection is closed.
    func release(_ bytes: RawSpan) { release(bytes, inPlaceOf: bytes.byteCount) }

    /// Sends bytes in place of some that are held.
    func release(_ bytes: RawSpan, inPlaceOf byteCount: Int) {
        heldByteCount -= byteCount
        connection.write(bytes)
        if closesAfterRelease {
            if heldByteCount == 0 { connection.closeAfterFlush() }
        } else if isSuspended,
            heldByteCount == 0 || unsentByteCount <= unsentLimitByteCount / 4
        {
            isSuspended = false
            connection.resume()
        }
    }

    /// The connection has requests left and no room for their answers.
    ///
    /// If the outbox holds all unsent bytes, only a release makes room, so the connection is
    /// suspended until then. Otherwise the transport waits for its own writes.
    func waitForRoom() {
        if heldByteCount > 0, connection.pendingByteCount == 0 { suspend() }
    }

    /// Closes the connection once all answers have been sent, also those that are held now.
    ///
    /// Nothing more can be sent.
    func closeAfterFlush() {
        guard heldByteCount > 0 else { return connection.closeAfterFlush() }
        closesAfterRelease = true
        suspend()
    }

    private func suspend() {
        isSuspended = true
        connection.suspend()
    }
}

extension Recipient {
    /// The memory that a release of answers looks at.
    struct Memory: BitwiseCopyable {
        fileprivate let own: ObjectMemory
        fileprivate let connection: ObjectMemory

        func prefetch() {
            own.prefetch()
            connection.prefetch()
        }
    }
}

@available(*, unavailable)
extension Recipient: Sendable {}

/// The held answers of one loop, a list for each condition that does not hold yet.
///
/// A value, so that the outbox holds the answers of a loop iteration in one access to it. Every access to
/// a property of a class is checked at run time.
private struct HeldBatches {
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
        until condition: AnswerCondition,
        since now: MonotonicInstant
    ) -> (uncountedByteCount: Int, beginsBatch: Bool) {
        writeCount += 1
        let beginsBatch = batches.last?.condition != condition
        if beginsBatch {
            var batch = spares.popLast() ?? HeldAnswers()
            batch.condition = condition
            batches.append(batch)
        }
        let last = batches.count - 1
        let count = batches[last].append(bytes, of: calls, to: recipient, since: now, &chunkPool)
        return (count, beginsBatch)
    }

    /// Takes the answers out whose condition is the first; nil where that does not hold yet.
    mutating func takeFirst(through durableBatch: UInt64, _ provenRound: UInt64) -> HeldAnswers? {
        guard let first = batches.first?.condition, first.holds(durableBatch, provenRound)
        else { return nil }
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

/// The answers of one loop that wait for the same, in their order.
private struct HeldAnswers {
    /// The answers of one loop iteration to one connection, which leave in one write.
    private struct HeldWrite {
        let recipient: Recipient
        let memory: Recipient.Memory
        let byteCount: Int
        /// The entries of `runs` whose answers it has.
        let runCount: Int
        let arrival: MonotonicInstant
        /// When the service had executed them.
        let heldSince: MonotonicInstant
    }

    /// An answer with times, the last of which is when it is released.
    private struct TimedAnswer {
        let write: Int
        /// Where it ends in the bytes of the write.
        let end: Int
    }

    /// A list of more writes is not kept for the next commit batch.
    private static let keptCount = 16_384
    /// The least number of bytes that is added to the budget, which all loops share.
    private static let budgetStepByteCount = 4 * 1_024

    var condition = AnswerCondition(0)
    /// Whether an answer has a secret, so that all chunks are overwritten once they are sent.
    private var hasSecret = false
    private(set) var countedByteCount = 0
    /// The part that it does not count yet.
    private var uncountedByteCount = 0
    private var writes: [HeldWrite] = []
    /// The calls whose answers are held, in the order of `writes`.
    private var runs: [AnsweredCalls.Run] = []
    /// The answers whose release is timed, in the order of `writes`.
    private var timedAnswers: [TimedAnswer] = []
    /// The bytes of the answers, one after another; each of `writes` lies in one chunk.
    private var chunks: [[UInt8]] = []

    /// The number of writes: one for each loop iteration of a connection, however many answers it has.
    var writeCount: Int { writes.count }

    /// Holds the answers of a loop iteration to a connection, and notes their calls, to time them when
    /// they are released.
    ///
    /// - Returns: The bytes that the budget is to count now, besides those that it counts already; 0 while
    ///   they are few.
    mutating func append(
        _ bytes: RawSpan,
        of calls: borrowing AnsweredCalls,
        to recipient: Recipient,
        since now: MonotonicInstant,
        _ pool: inout ChunkPool
    ) -> Int {
        let number = writes.count
        writes.append(
            HeldWrite(
                recipient: recipient,
                memory: recipient.memory,
                byteCount: bytes.byteCount,
                runCount: calls.runs.count,
                arrival: calls.arrival,
                heldSince: now
            )
        )
        for run in calls.runs { runs.append(run) }
        for end in calls.timedEnds { timedAnswers.append(TimedAnswer(write: number, end: end)) }
        if calls.hasSecret { hasSecret = true }
        let last = chunks.count - 1
        // Chunks never grow, so bytes are copied once.
        if last < 0 || chunks[last].count + bytes.byteCount > chunks[last].capacity {
            chunks.append(pool.takeChunk(fitting: bytes.byteCount))
        }
        chunks[chunks.count - 1].append(copying: bytes)
        uncountedByteCount += bytes.byteCount
        guard uncountedByteCount >= Self.budgetStepByteCount else { return 0 }
        defer { uncountedByteCount = 0 }
        countedByteCount += uncountedByteCount
        return uncountedByteCount
    }

    func release(_ timer: CallTimer) {
        // Spans, because a list that is passed on, or a write that is taken out of one, is retained.
        let (writes, runs) = (writes.span, runs.span)
        var number = 0
        var firstRun = 0
        var firstTimed = 0
        for chunk in chunks {
            chunk.withRawSpan { chunk in
                var offset = 0
                while offset < chunk.byteCount {
                    // The write of this one takes longer than the memory of the next.
                    if number + 1 < writes.count { writes[number + 1].memory.prefetch() }
                    let end = offset + writes[number].byteCount
                    let bytes = chunk.extracting(offset..<end)
                    let recipient = writes[number].recipient
                    if firstTimed < timedAnswers.count, timedAnswers[firstTimed].write == number {
                        release(bytes, number, from: &firstTimed, timer.now)
                    } else {
                        recipient.release(bytes)
                    }
                    let endRun = firstRun + writes[number].runCount
                    if firstRun < endRun {
                        timer.count(
                            runs.extracting(firstRun..<endRun),
                            arrivedAt: writes[number].arrival,
                            heldSince: writes[number].heldSince,
                            from: recipient
                        )
                    }
                    firstRun = endRun
                    offset = end
                    number += 1
                }
            }
        }
    }

    /// Divides the answers, and times all calls: they have waited for too long.
    ///
    /// Returns what stays held, and the bytes that the budget is to count for it; the rest is sent ahead.
    func divided(
        _ timer: CallTimer,
        _ pool: inout ChunkPool,
        early: inout [EarlyWrite],
        _ divide: (RawSpan, ArraySlice<AnsweredCalls.Run>) -> HeldDivision
    ) -> (rest: HeldAnswers, byteCount: Int) {
        var rest = HeldAnswers()
        rest.condition = condition
        rest.hasSecret = hasSecret
        var byteCount = 0
        var (number, firstRun, firstTimed) = (0, 0, 0)
        for chunk in chunks {
            chunk.withRawSpan { chunk in
                var offset = 0
                while offset < chunk.byteCount {
                    let write = writes[number]
                    let bytes = chunk.extracting(offset..<offset + write.byteCount)
                    let writeRuns = firstRun..<firstRun + write.runCount
                    timer.count(
                        runs.span.extracting(writeRuns),
                        arrivedAt: write.arrival,
                        heldSince: write.heldSince,
                        from: write.recipient
                    )
                    var ends: [Int] = []
                    while firstTimed < timedAnswers.count, timedAnswers[firstTimed].write == number
                    {
                        ends.append(timedAnswers[firstTimed].end)
                        firstTimed += 1
                    }
                    var division = divide(bytes, runs[writeRuns])
                    if division.ahead.isEmpty { division.kept = [0..<write.byteCount] }
                    let (count, keptCount) = rest.keep(
                        division.kept,
                        of: bytes,
                        write,
                        timedEnds: ends,
                        &pool
                    )
                    byteCount += count
                    if !division.ahead.isEmpty {
                        early.append(
                            EarlyWrite(
                                recipient: write.recipient,
                                bytes: division.ahead,
                                heldByteCount: write.byteCount - keptCount
                            )
                        )
                    }
                    firstRun = writeRuns.upperBound
                    offset += write.byteCount
                    number += 1
                }
            }
        }
        return (rest, byteCount)
    }

    /// Holds frames of a write.
    ///
    /// - Returns: The bytes that the budget is to count now, and the bytes of the frames.
    private mutating func keep(
        _ frames: [Range<Int>],
        of bytes: RawSpan,
        _ write: HeldWrite,
        timedEnds: [Int],
        _ pool: inout ChunkPool
    ) -> (uncountedByteCount: Int, byteCount: Int) {
        var kept: [UInt8] = []
        var calls = AnsweredCalls()
        calls.begin(at: write.arrival)
        for range in frames {
            let start = kept.count - range.lowerBound
            kept.append(copying: bytes.extracting(range))
            for end in timedEnds where range.contains(end - 1) {
                calls.addTimed(endingAt: start + end)
            }
        }
        guard !kept.isEmpty else { return (0, 0) }
        let count = kept.withRawSpan {
            append($0, of: calls, to: write.recipient, since: write.heldSince, &pool)
        }
        return (count, kept.count)
    }

    /// Sends a copy of a write, in which its timed answers say that they are released now.
    @inline(never)
    private func release(
        _ bytes: RawSpan,
        _ number: Int,
        from firstTimed: inout Int,
        _ now: MonotonicInstant
    ) {
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.byteCount)
        copy.append(copying: bytes)
        while firstTimed < timedAnswers.count, timedAnswers[firstTimed].write == number {
            var place = timedAnswers[firstTimed].end
            for shift in stride(from: 56, through: 0, by: -8) {
                place -= 1
                copy[place] = UInt8(truncatingIfNeeded: now.nanoseconds >> UInt64(shift))
            }
            firstTimed += 1
        }
        copy.withRawSpan { writes[number].recipient.release($0) }
        if hasSecret { copy.overwrite() }
    }

    /// Removes the answers, which are sent; the lists keep their memory, and the pool the chunks.
    mutating func removeAll(_ pool: inout ChunkPool) {
        if hasSecret {
            for index in chunks.indices { chunks[index].overwrite() }
            hasSecret = false
        }
        pool.keep(&chunks)
        writes.removeAll(keepingCapacity: writes.count <= Self.keptCount)
        runs.removeAll(keepingCapacity: runs.count <= Self.keptCount)
        timedAnswers.removeAll()
        uncountedByteCount = 0
        countedByteCount = 0
    }
}

/// Bytes that are sent in place of held ones, before the commit that these wait for.
private struct EarlyWrite {
    let recipient: Recipient
    let bytes: [UInt8]
    /// The bytes that are held no longer.
    let heldByteCount: Int

    func send() {
        bytes.withRawSpan { recipient.release($0, inPlaceOf: heldByteCount) }
    }
}

/// The bytes of a held write, divided: what stays held, and what is sent ahead in place of the others.
struct HeldDivision {
    var kept: [Range<Int>] = []
    /// The bytes that are sent; if there are none, all stays held.
    var ahead: [UInt8] = []
}

/// Empty chunks of memory that the held answers of one loop use again.
private struct ChunkPool {
    /// The size of a chunk: the answers of some thousand votes.
    private static let chunkByteCount = 64 * 1_024
    /// The chunks that are kept: 8 MiB.
    private static let keptChunkCount = 128

    private var chunks: [[UInt8]] = []

    /// An empty chunk with room for some bytes: a kept one, or new memory.
    mutating func takeChunk(fitting byteCount: Int) -> [UInt8] {
        if byteCount <= Self.chunkByteCount, let chunk = chunks.popLast() { return chunk }
        var chunk: [UInt8] = []
        chunk.reserveCapacity(max(byteCount, Self.chunkByteCount))
        return chunk
    }

    /// Keeps the memory of chunks that were sent, and empties their list.
    ///
    /// The pool then has twice as many as were sent, or one less than before where that is more.
    mutating func keep(_ sent: inout [[UInt8]]) {
        let count = min(Self.keptChunkCount, max(2 * sent.count, chunks.count - 1))
        while var chunk = sent.popLast() {
            guard chunks.count < count, chunk.capacity < 2 * Self.chunkByteCount else { continue }
            chunk.removeAll(keepingCapacity: true)
            chunks.append(chunk)
        }
        while chunks.count > count { chunks.removeLast() }
    }
}
