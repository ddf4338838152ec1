internal import FeedRanking
internal import FeedTransport

/// The one way of a loop's answers to its connections: at once where all that they may reflect is
/// durable, else held until it is.
///
/// Every answer may reflect a change that somebody else has just made: a read, an error and the
/// answer to a repeat too. So each waits for the newest cut that holds any effect at all, as it is
/// once the answer's turn has let go of its last lock.
final class AnswerOutlet {
    /// The answers of one turn.
    private struct Held {
        /// Where they go.
        let connection: TCPConnection
        /// How many bytes of what the connection holds they are.
        let byteCount: Int
    }

    /// Answers that wait for one cut, in their order.
    private struct Batch {
        let cut: UInt64
        var answers: [Held]
    }

    /// A list that held more is not kept for the next batch.
    private static let keptCount = 16_384

    private let logs: EffectLogs?
    private let counters: LoopCounters
    /// All cuts up to this one are durable, as far as the loop has heard.
    private var durableCut: UInt64
    /// In the order of their cuts: that of the commit under way, and that of the next one.
    private var batches: [Batch] = []
    /// An empty list with room.
    private var spare: [Held] = []
    private var heldCount = 0

    /// An outlet that holds nothing where there are no logs, else what goes beyond a cut.
    init(_ logs: EffectLogs?, durableCut: UInt64, _ counters: LoopCounters) {
        self.logs = logs
        self.durableCut = durableCut
        self.counters = counters
    }

    /// Sends the answers of a turn, after the turn's last lock was let go of.
    func send(_ bytes: RawSpan, on connection: TCPConnection) {
        guard let logs, logs.newestCut > durableCut else {
            // What waited for a cut before was released when that was heard to be durable.
            connection.write(bytes)
            return
        }
        guard connection.isOpen else { return }
        connection.hold(bytes)
        append(Held(connection: connection, byteCount: bytes.byteCount), cut: logs.newestCut)
    }

    /// All cuts up to this one are durable: sends what waited for them.
    func release(through cut: UInt64) {
        durableCut = max(durableCut, cut)
        while let first = batches.first, first.cut <= durableCut {
            var answers = batches.removeFirst().answers
            for held in answers { held.connection.releaseHeld(held.byteCount) }
            heldCount -= answers.count
            answers.removeAll(keepingCapacity: answers.count <= Self.keptCount)
            spare = answers
        }
        counters.setHeldAnswers(heldCount)
    }

    private func append(_ held: Held, cut: UInt64) {
        heldCount += 1
        if let last = batches.indices.last, batches[last].cut == cut {
            batches[last].answers.append(held)
            return
        }
        var answers: [Held] = []
        swap(&answers, &spare)
        answers.append(held)
        batches.append(Batch(cut: cut, answers: answers))
        counters.setHeldAnswers(heldCount)
    }
}

@available(*, unavailable)
extension AnswerOutlet: Sendable {}
