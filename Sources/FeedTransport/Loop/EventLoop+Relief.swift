/// How connections are closed where too much is held for connections: the largest holders first, so
/// that the others are served. Bytes that closing does not return do not count.
///
/// Each loop closes only its own connections, and another loop may hold the excess. So a host
/// within its share is spared at first. Its connections are closed if a later sweep still finds too
/// much and no loop has closed anything in between.
extension EventLoop {
    /// The history of the relief, by which sweeps decide which hosts to spare.
    struct Relief {
        /// The sweep of a relief that was in vain: the next relief waits for the next sweep.
        var vainSweep = -1
        /// Whether the last sweep left more than a level, ``BudgetLevel/sharing`` for stalled
        /// connections and ``BudgetLevel/closing`` for any.
        var leftTooMuch = (stalled: false, any: false)
        /// The connections that all loops had closed by then.
        var closingCount = 0
    }

    /// Closes connections where too much is held; to be called once a sweep.
    ///
    /// O(connections) where too much is held, else O(1).
    func relieveInSweep() {
        guard configuration.closesOverBudget else { return }
        let isInVain = relief.closingCount == budget.closingCount
        relieve(onlyStalled: true, sparesModestHosts: !(isInVain && relief.leftTooMuch.stalled))
        relieve(onlyStalled: false, sparesModestHosts: !(isInVain && relief.leftTooMuch.any))
        relief.leftTooMuch.stalled = budget.isAbove(.sharing)
        relief.leftTooMuch.any = budget.isAbove(.closing)
        relief.closingCount = budget.closingCount
    }

    /// Closes connections until less is held.
    ///
    /// It takes the hosts that hold most first; of a host, connections that take nothing before
    /// those that do; and of these, the largest holder first.
    ///
    /// O(connections). Each loop looks at its own connections; hosts are compared over all loops.
    ///
    /// - Parameters:
    ///   - onlyStalled: Whether connections are spared that take some of their answers.
    ///   - sparesModestHosts: Whether hosts are spared that hold no more than their share.
    func relieve(onlyStalled: Bool, sparesModestHosts: Bool) {
        let level: BudgetLevel = onlyStalled ? .sharing : .closing
        guard budget.isAbove(level) else { return }
        // Well below the level, so that the next relief is not due at once.
        let wanted = budget.threshold(of: level) - budget.limitByteCount / 8
        var candidates: [Candidate] = []
        for (place, connection) in connections.enumerated()
        where connection.mayBeClosed(
            onlyStalled: onlyStalled,
            sparesModestHosts: sparesModestHosts
        ) {
            candidates.append(
                Candidate(
                    hostByteCount: budget.byteCount(of: connection.hostSlot),
                    isStalled: connection.isStalled,
                    byteCount: connection.accountedByteCount,
                    place: place
                )
            )
        }
        candidates.sort { $1 < $0 }
        // Closing removes a connection from the list later, so places do not change. It brings a
        // host down to its share, which may then be spared.
        for candidate in candidates where budget.connectionByteCount > wanted {
            let connection = connections[candidate.place]
            guard !sparesModestHosts || connection.isOfGreedyHost else { continue }
            connection.closeOverBudget()
        }
        if !onlyStalled, budget.isAbove(level) { relief.vainSweep = sweep }
    }

    /// Requests a relief before the next wait if so much is held that it cannot wait for the next
    /// sweep, unless a relief was in vain since the last one.
    func relieveSoonIfNeeded() {
        guard !isReliefDue, configuration.closesOverBudget, relief.vainSweep != sweep,
            budget.isAbove(.closing)
        else { return }
        isReliefDue = true
        skipWait()
    }

    /// Makes the relief that ``relieveSoonIfNeeded()`` requested.
    func relieveIfDue() {
        guard isReliefDue else { return }
        isReliefDue = false
        relieve(onlyStalled: false, sparesModestHosts: true)
    }

    /// A connection that may be closed; the greatest one is closed first.
    private struct Candidate: Comparable {
        let hostByteCount: Int
        let isStalled: Bool
        let byteCount: Int
        let place: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.hostByteCount, left.isStalled ? 1 : 0, left.byteCount)
                < (right.hostByteCount, right.isStalled ? 1 : 0, right.byteCount)
        }
    }
}
