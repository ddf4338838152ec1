internal import FeedConcurrency
internal import FeedLog
internal import FeedTransport

/// Sends the answers of a loop, and holds those that wait for durability.
///
/// An answer is sent at once if all changes that it may reflect are durable. Otherwise the outbox
/// holds it until then. Every answer may reflect a change that another client has just made: a read,
/// an error and the answer to a repeat, too. So each answer waits for the newest commit batch that
/// has any log entry, as of the release of the last lock of the answer's loop iteration.
final class Outbox {
    private let logs: ChangeLogs?
    private let budget: BufferBudget
    private let counters: LoopCounters
    private let timer: CallTimer
    /// The last commit batch that is durable, as far as the loop was notified.
    private var durableBatch: UInt64
    private var held = HeldBatches()

    /// An outbox that holds nothing if there are no logs, and otherwise the answers that wait for
    /// later commit batches than `durableBatch`.
    init(
        _ logs: ChangeLogs?,
        durableBatch: UInt64,
        _ budget: BufferBudget,
        _ counters: LoopCounters,
        timer: CallTimer
    ) {
        self.timer = timer
        self.logs = logs
        self.durableBatch = durableBatch
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
        guard let logs, logs.newestBatch > durableBatch else {
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
        guard calls.ahead.isEmpty else { return sendAhead(bytes, of: calls, to: recipient) }
        hold(bytes, of: calls, for: recipient, until: logs.newestBatch)
    }

    private func hold(
        _ bytes: RawSpan,
        of calls: borrowing AnsweredCalls,
        for recipient: Recipient,
        until commitBatch: UInt64
    ) {
        recipient.hold(bytes.byteCount)
        let (uncountedByteCount, beginsBatch) = held.hold(
            bytes,
            of: calls,
            for: recipient,
            until: commitBatch,
            since: timer.now
        )
        if uncountedByteCount > 0 { budget.addReserved(uncountedByteCount) }
        if beginsBatch { counters.set(.heldWrites, to: held.writeCount) }
    }

    /// Sends the answers that are not held, and holds the others.
    private func sendAhead(
        _ bytes: RawSpan,
        of calls: borrowing AnsweredCalls,
        to recipient: Recipient
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
        rest.withRawSpan { hold($0, of: restCalls, for: recipient, until: newestBatch) }
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
        while let answers = held.takeFirst(through: durableBatch) {
            answers.release(timer)
            budget.addReserved(-answers.countedByteCount)
            held.reuse(consume answers)
        }
        counters.set(.heldWrites, to: held.writeCount)
    }
}

@available(*, unavailable)
extension Outbox: Sendable {}
