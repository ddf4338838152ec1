internal import FeedConcurrency
package import FeedTransport

/// Gives memory back to the system once a peak is over: what connections held in small pieces stays
/// with the allocator else.
///
/// What connections hold, the connections themselves and channels count. A peak is over once ten
/// seconds in a row held less than half of it, and a sixteenth of the budget less. What is left then
/// is the next peak, so what is freed later is given back too. That is once a minute at most: the
/// allocator is locked meanwhile, and what a load uses again and again would have to be asked for
/// again. So it waits for channels that are about to be forgotten, up to 40 s.
package final class MemoryReturn: Sendable {
    /// The seconds of calm that a peak is over after; less than a minute, as memory is to be back
    /// within one.
    package static let calmSeconds = 10
    /// The same where channels are about to be forgotten: 20 s until they are, and about as long
    /// until the last one of a full table is.
    package static let longestCalmSeconds = 40
    /// The seconds from one return of memory to the next at least.
    package static let intervalSeconds = 60
    /// What a connection takes of the allocator without anything to read or to send, about.
    private static let connectionByteCount = 2 << 10

    private struct State {
        var greatestByteCount = 0
        var calmSeconds = 0
        var secondsSinceReturn = MemoryReturn.intervalSeconds
    }

    private let state = Lock(State())
    private let trim: @Sendable () -> Void

    /// Memory that `trim` gives back; by default on a thread of its own, as it takes a while.
    package init(
        trim: @escaping @Sendable () -> Void = {
            // Where the system refuses the thread, the memory is given back after the next peak.
            try? NamedThread("feed-memory").start { ProcessSetup.giveMemoryBack() }
        }
    ) {
        self.trim = trim
    }

    /// Looks at what is held, once a second.
    ///
    /// - Parameters:
    ///   - budget: What connections hold.
    ///   - channelByteCount: What channels take.
    ///   - forgetsSoon: Whether channels are about to be forgotten.
    package func giveBack(
        after budget: BufferBudget,
        channelByteCount: Int = 0,
        forgetsSoon: Bool = false
    ) {
        // The peak of the last second: a spike between two looks is one too.
        let byteCount =
            max(budget.takeLatestPeak(), budget.bufferedByteCount) + channelByteCount
            + budget.connectionCount * Self.connectionByteCount
        let least = budget.limitByteCount / 16
        let isDue = state.withLock { state in
            state.secondsSinceReturn += 1
            state.greatestByteCount = max(state.greatestByteCount, byteCount)
            guard state.greatestByteCount > max(2 * byteCount, byteCount + least) else {
                state.calmSeconds = 0
                return false
            }
            state.calmSeconds += 1
            guard
                state.calmSeconds >= (forgetsSoon ? Self.longestCalmSeconds : Self.calmSeconds),
                state.secondsSinceReturn >= Self.intervalSeconds
            else { return false }
            state = State(greatestByteCount: byteCount, secondsSinceReturn: 0)
            return true
        }
        if isDue { trim() }
    }
}
