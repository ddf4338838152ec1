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
    /// The emptied lists that are kept: for the commit under way, and for the next.
    private static let spareCount = 2

    private let logs: ChangeLogs?
    private let budget: BufferBudget
    private let counters: LoopCounters
    private let timer: CallTimer
    /// The last commit batch that is durable, as far as the loop was notified.
    private var durableBatch: UInt64
    /// The held answers in the order of their commit batches: those of the commit under way, and those
    /// of the next.
    private var held: [HeldAnswers] = []
    /// Emptied lists, whose memory is used again.
    private var spares: [HeldAnswers] = []
    private var chunkPool = ChunkPool()
    /// The writes in `held`: one for each loop iteration of a connection, however many answers it has.
    private var heldWriteCount = 0

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

    /// Sends the answers of a loop iteration, after the release of its last lock.
    ///
    /// - Parameters:
    ///   - bytes: The encoded answers.
    ///   - recipient: Whose answers they are.
    ///   - hasSecret: Whether they have a secret, which is overwritten once it is sent.
    /// - Returns: Whether the outbox holds them.
    func send(_ bytes: RawSpan, to recipient: Recipient, hasSecret: Bool = false) -> Bool {
        guard let logs, logs.newestBatch > durableBatch else {
            // The newest batch is durable, so the answers that waited for it have been released.
            recipient.send(bytes)
            return false
        }
        guard recipient.isOpen else { return false }
        recipient.hold(bytes.byteCount)
        hold(bytes, for: recipient, until: logs.newestBatch)
        if hasSecret { held[held.count - 1].hasSecret = true }
        return true
    }

    /// Times the calls whose answers were sent last: now, or once they are released.
    ///
    /// The clock is read once for each write, however many answers it has.
    func time(_ calls: borrowing AnsweredCalls, from recipient: Recipient, areHeld: Bool) {
        guard !calls.isEmpty else { return }
        if areHeld {
            held[held.count - 1].time(calls, since: timer.now)
        } else {
            timer.count(calls, from: recipient)
        }
    }

    /// Has the times set at which the answers that were held last are released.
    ///
    /// - Parameter ends: Where the answers with times end in the bytes of the write.
    func setReleaseTimes(endingAt ends: [Int]) {
        held[held.count - 1].setReleaseTimes(endingAt: ends)
    }

    /// Sends the answers that waited for commit batches up to this one, which are durable now.
    func release(through commitBatch: UInt64) {
        durableBatch = max(durableBatch, commitBatch)
        while let first = held.first?.commitBatch, first <= durableBatch {
            var answers = held.removeFirst()
            answers.release(timer)
            heldWriteCount -= answers.writeCount
            budget.addReserved(-answers.countedByteCount)
            answers.removeAll(&chunkPool)
            if spares.count < Self.spareCount { spares.append(answers) }
        }
        counters.setHeldWrites(heldWriteCount)
    }

    private func hold(_ bytes: RawSpan, for recipient: Recipient, until commitBatch: UInt64) {
        heldWriteCount += 1
        if held.last?.commitBatch != commitBatch { beginBatch(commitBatch) }
        let last = held.count - 1
        held[last].append(bytes, to: recipient, &chunkPool)
        let uncountedByteCount = held[last].takeUncountedByteCount()
        if uncountedByteCount > 0 { budget.addReserved(uncountedByteCount) }
    }

    private func beginBatch(_ commitBatch: UInt64) {
        var answers = spares.popLast() ?? HeldAnswers()
        answers.commitBatch = commitBatch
        held.append(answers)
        counters.setHeldWrites(heldWriteCount)
    }
}

@available(*, unavailable)
extension Outbox: Sendable {}
