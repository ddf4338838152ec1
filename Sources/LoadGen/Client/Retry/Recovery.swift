/// What one connection still has to get answered after a loss or a refusal; it does no input or
/// output and looks at no clock.
///
/// Requests that were lost or refused are put back, wait for a pause to pass, and leave again. Until
/// each of them is answered the connection takes nothing new: so the sequences without an answer
/// never span more than its pipeline, whatever is refused how often.
struct Recovery {
    /// The next number of a mutation on this connection's channel.
    private(set) var nextSequence: UInt64 = 1
    /// Requests that wait to be sent again, by sequence.
    private(set) var backlog: [Flight] = []
    /// Requests that were sent again and have no answer yet.
    private(set) var againCount = 0
    /// Tries in a row that got no request of this connection answered.
    private(set) var round = 0
    /// Whether the service has remembered the channel's sequences before.
    var isKnown = false
    /// When the pause ends.
    var resumeNanoseconds: UInt64 = 0
    /// When requests were last sent again, from which their time then runs.
    var resentNanoseconds: UInt64 = 0
    /// Refusals on the connection as it is open now.
    private var refusedCount: UInt64 = 0

    /// Whether every request was sent once or is answered.
    var isSettled: Bool { backlog.isEmpty && againCount == 0 }

    /// The number of the next mutation.
    @inline(__always)
    mutating func takeSequence() -> UInt64 {
        defer { nextSequence &+= 1 }
        return nextSequence
    }

    /// Puts back what a lost connection leaves unanswered, having answered `answeredCount` requests,
    /// refusals included; nobody knows whether mutations among it were executed.
    mutating func lose(_ flights: some Sequence<Flight>, answeredCount: UInt64) {
        if answeredCount > refusedCount { round = 0 }
        refusedCount = 0
        againCount = 0
        for var flight in flights {
            flight.marks.insert(flight.sequence > 0 ? [.again, .doubtful] : .again)
            backlog.append(flight)
        }
        backlog.sort { $0.sequence < $1.sequence }
        round += 1
    }

    /// Puts back a request that the service refused for now; false where it was refused `limit` times
    /// in a row already.
    mutating func postpone(_ refused: Flight, limit: Int) -> Bool {
        refusedCount += 1
        if !refused.marks.contains(.again) { round = 0 }
        // Requests refused together are one try.
        if backlog.isEmpty { round += 1 }
        guard round <= limit else { return false }
        var flight = refused
        if flight.marks.contains(.again) { againCount -= 1 }
        flight.marks.insert(.again)
        backlog.append(flight)
        return true
    }

    /// Takes note that a request sent again has its answer.
    mutating func settle() {
        againCount -= 1
        round = 0
    }

    /// Takes everything that waits, to send it again now or to give it up.
    mutating func takeBacklog() -> [Flight] {
        defer { backlog.removeAll() }
        return backlog
    }

    /// Takes note that `count` requests were sent again at `now`.
    mutating func resent(_ count: Int, at now: UInt64) {
        againCount += count
        resentNanoseconds = now
    }

    /// Takes out what the service cannot tell from a first send any more: sent again, it might count
    /// twice.
    mutating func takeDoubtful() -> [Flight] {
        let doubtful = backlog.filter { $0.marks.contains(.doubtful) }
        backlog.removeAll { $0.marks.contains(.doubtful) }
        return doubtful
    }

    /// How many requests that wait were executed before, as the last sequence the service executed
    /// shows.
    func duplicateCount(through lastSequence: UInt64) -> Int {
        backlog.count { $0.marks.contains(.doubtful) && $0.sequence <= lastSequence }
    }
}
