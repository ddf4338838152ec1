package import FeedTransport
internal import Synchronization

/// Tells a supervisor that the service lives, as long as every loop answers.
///
/// The first loop begins a round twice in the supervisor's interval: it asks every loop, itself too,
/// and the last answer tells the supervisor. A loop that hangs does not answer, and no other round
/// begins until it does. The first loop begins none where it hangs itself.
package final class Watchdog: Sendable {
    private let loops: [LoopMailbox]
    private let supervisor: Supervisor
    /// The loops that have not answered in this round.
    private let missingCount = Atomic(0)

    /// A watchdog for these loops.
    package init(over loops: [LoopMailbox], for supervisor: Supervisor) {
        self.loops = loops
        self.supervisor = supervisor
    }

    /// Begins the rounds on the first loop; none where the supervisor does not watch.
    package func start(on loop: EventLoop) throws(TransportError) {
        guard let interval = supervisor.watchdogInterval else { return }
        try loop.addTimer(every: interval / 2) { self.beginRound() }
    }

    private func beginRound() {
        guard missingCount.load(ordering: .relaxed) == 0 else { return }
        missingCount.store(loops.count, ordering: .relaxed)
        for loop in loops {
            // A loop that has ended does not hang.
            if !loop.post({ [self] _ in countAnswer() }) { countAnswer() }
        }
    }

    private func countAnswer() {
        let left = missingCount.wrappingSubtract(1, ordering: .relaxed).newValue
        if left == 0 { supervisor.notify(.alive) }
    }
}
