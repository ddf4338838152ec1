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
    /// The answers that wait for commit batches.
    private var held = HeldBatches()

    /// An outbox that holds nothing if there are no logs, and otherwise the answers that wait for
    /// later commit batches than `durableBatch`.
    init(
        _ logs: ChangeLogs?,
        durableBatch: UInt64,
        _ budget: BufferBudget,
        _ counters: LoopCounters,
        _ timer: CallTimer
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
    /// - Parameters:
    ///   - bytes: The encoded answers.
    ///   - calls: Their calls; if one has a secret, the bytes are overwritten once they are sent.
    ///   - recipient: Whose answers they are.
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
        recipient.hold(bytes.byteCount)
        let (uncountedByteCount, beginsBatch) = held.hold(
            bytes,
            of: calls,
            for: recipient,
            until: logs.newestBatch,
            since: timer.now
        )
        if uncountedByteCount > 0 { budget.addReserved(uncountedByteCount) }
        if beginsBatch { counters.setHeldWrites(held.writeCount) }
    }

    /// Sends all answers that waited for commit batches up to this one, which are durable now.
    func release(through commitBatch: UInt64) {
        durableBatch = max(durableBatch, commitBatch)
        while let answers = held.takeFirst(through: durableBatch) {
            answers.release(timer)
            budget.addReserved(-answers.countedByteCount)
            held.reuse(consume answers)
        }
        counters.setHeldWrites(held.writeCount)
    }
}

@available(*, unavailable)
extension Outbox: Sendable {}
