internal import FeedRanking
internal import FeedState
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
        /// The cut that they wait for.
        let cut: UInt64
        /// Where they go; nil once they are gone.
        var connection: TCPConnection?
        /// How many bytes of what the connection holds they are.
        var byteCount: Int
    }

    /// Entries that are gone stay in the list until there are so many, and more than others.
    private static let compactionCount = 4_096

    private let state: DurableState?
    private let counters: LoopCounters
    /// In the order of their cuts, from `first` on.
    private var held: [Held] = []
    private var first = 0

    /// An outlet that holds nothing, or what the journal has not made durable.
    init(_ state: DurableState?, _ counters: LoopCounters) {
        self.state = state
        self.counters = counters
    }

    /// Sends the answers of a turn, after the turn's last lock was let go of.
    func send(_ bytes: RawSpan, on connection: TCPConnection) {
        guard let state else {
            connection.write(bytes)
            return
        }
        let cut = state.logs.newestCut
        let durableCut = state.journal.durableCut
        guard cut > durableCut else {
            // What the connection still holds comes first, and is durable too.
            release(through: durableCut)
            connection.write(bytes)
            return
        }
        guard connection.isOpen else { return }
        connection.hold(bytes)
        held.append(Held(cut: cut, connection: connection, byteCount: bytes.byteCount))
        counters.setHeldAnswers(held.count - first)
    }

    /// Sends what waits for no cut that is not durable.
    func releaseDurable() {
        guard let state, first < held.count else { return }
        release(through: state.journal.durableCut)
    }

    private func release(through cut: UInt64) {
        while first < held.count, held[first].cut <= cut {
            // A connection that hears of its end here may send no more.
            held[first].connection?.releaseHeld(held[first].byteCount)
            held[first].connection = nil
            first += 1
        }
        counters.setHeldAnswers(held.count - first)
        if first == held.count {
            held.removeAll(keepingCapacity: held.count <= Self.compactionCount)
            first = 0
        } else if first >= Self.compactionCount, first * 2 >= held.count {
            held.removeSubrange(..<first)
            first = 0
        }
    }
}

@available(*, unavailable)
extension AnswerOutlet: Sendable {}
