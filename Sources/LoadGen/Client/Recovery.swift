import FeedClient
import FeedProto

/// The requests that one connection still has to get answered after a loss or a refusal.
///
/// The value does no input or output and reads no clock.
///
/// Lost or refused requests are put back, wait for a pause to pass, and leave again. The connection
/// takes nothing new until each of them is answered. So the sequences without an answer never span
/// more than its pipeline, however often requests are refused.
struct Recovery {
    /// The sequences of the changes on this connection's channel, and what the service remembers of
    /// them.
    private(set) var sequences = SequenceNumbers(hasIdentity: true)
    /// Requests that wait to be sent again, by sequence.
    private(set) var backlog: [InFlightRequest] = []
    /// Requests that were sent again and have no answer yet.
    private(set) var againCount = 0
    /// Consecutive tries that got no request of this connection answered.
    private(set) var round = 0
    /// When the pause ends.
    var resumeNanoseconds: UInt64 = 0
    /// When requests were last sent again; their time runs from then on.
    var resentNanoseconds: UInt64 = 0
    /// Refusals on the currently open connection.
    private var refusedCount: UInt64 = 0

    /// Whether every request was sent only once or is answered.
    var isComplete: Bool { backlog.isEmpty && againCount == 0 }

    /// The sequence of the next change.
    @inline(__always)
    mutating func takeSequence() -> UInt64 { sequences.take() }

    /// A Hello was sent and not answered.
    mutating func loseHello() { sequences.lostHello() }

    /// Adopts what the service answers to Hello; returns whether it knows which earlier changes
    /// were executed.
    mutating func resume(_ hello: HelloResponse) -> Bool { sequences.resume(hello) == nil }

    /// Puts back the unanswered requests of a lost connection, which had answered `answeredCount`
    /// requests, refusals included.
    ///
    /// It is unknown whether the changes among those put back were executed.
    mutating func lose(_ requests: some Sequence<InFlightRequest>, answeredCount: UInt64) {
        if answeredCount > refusedCount { round = 0 }
        refusedCount = 0
        againCount = 0
        for var request in requests {
            request.marks.insert(request.sequence > 0 ? [.again, .doubtful] : .again)
            backlog.append(request)
        }
        backlog.sort { $0.sequence < $1.sequence }
        round += 1
    }

    /// Puts back a request that the service refused for now; returns false where it was already
    /// refused `limit` times in a row.
    mutating func postpone(_ refused: InFlightRequest, limit: Int) -> Bool {
        refusedCount += 1
        if !refused.marks.contains(.again) { round = 0 }
        // Requests that are refused together count as one try.
        if backlog.isEmpty { round += 1 }
        guard round <= limit else { return false }
        var request = refused
        if request.marks.contains(.again) { againCount -= 1 }
        request.marks.insert(.again)
        backlog.append(request)
        return true
    }

    /// Records that a request sent again has its answer.
    mutating func answered() {
        againCount -= 1
        round = 0
    }

    /// Takes all waiting requests, to send them again now or to give them up.
    mutating func takeBacklog() -> [InFlightRequest] {
        defer { backlog.removeAll() }
        return backlog
    }

    /// Records that `count` requests were sent again at `now`.
    mutating func resent(_ count: Int, at now: UInt64) {
        againCount += count
        resentNanoseconds = now
    }

    /// Takes out the requests that the service cannot distinguish from first sends: sent again,
    /// they might count twice.
    mutating func takeDoubtful() -> [InFlightRequest] {
        let doubtful = backlog.filter { $0.marks.contains(.doubtful) }
        backlog.removeAll { $0.marks.contains(.doubtful) }
        return doubtful
    }

    /// How many waiting requests were executed before, according to the last sequence that the
    /// service executed.
    func duplicateCount(through lastSequence: UInt64) -> Int {
        backlog.count { $0.marks.contains(.doubtful) && $0.sequence <= lastSequence }
    }
}
