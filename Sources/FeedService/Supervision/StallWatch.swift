package import FeedConcurrency
package import FeedTransport
internal import Synchronization

/// Looks four times a second whether commits and event loops go on, on a thread that waits for neither.
///
/// It asks each loop through its mailbox; a loop stands still as long as it does not answer.
package final class StallWatch: Sendable {
    /// The time between two looks.
    package static let interval = Duration.milliseconds(250)
    /// After a longer pause the process itself has stood still, and a look says nothing of the others.
    private static let longestPause = Duration.seconds(1)

    private struct State {
        var lastLook: MonotonicInstant?
        /// When each loop was asked; nil once it has answered.
        var askedAt: [MonotonicInstant?]
    }

    private let loops: [LoopMailbox]
    private let stalls: Stalls
    private let commitWait: @Sendable () -> Duration?
    private let report: @Sendable (Stalls.News) -> Void
    private let commitStalled: @Sendable () -> Void
    private let state: Lock<State>
    private let thread = NamedThread("feed-stalls")
    private let stopping = Atomic(false)

    /// A watch that has not looked yet.
    ///
    /// - Parameters:
    ///   - loops: The event loops.
    ///   - stalls: What is found.
    ///   - commitWait: How long the oldest log entry waits for its commit; nil if none waits.
    ///   - report: Takes the news.
    ///   - commitStalled: Called when a commit has stood still for so long that calls are refused.
    package init(
        over loops: [LoopMailbox],
        _ stalls: Stalls,
        commitWait: @escaping @Sendable () -> Duration?,
        report: @escaping @Sendable (Stalls.News) -> Void,
        commitStalled: @escaping @Sendable () -> Void
    ) {
        self.loops = loops
        self.stalls = stalls
        self.commitWait = commitWait
        self.report = report
        self.commitStalled = commitStalled
        state = Lock(State(askedAt: loops.map { _ in nil }))
    }

    /// Starts the thread.
    package func start() throws(ThreadStartError) {
        try thread.start { [self] in
            while !stopping.load(ordering: .acquiring) {
                look(at: .now)
                thread.waitForWakeUp(upTo: Self.interval)
            }
        }
    }

    /// Ends the thread, and waits for its end.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        thread.wake()
        thread.join()
    }

    /// Looks once; for the thread, and for tests.
    package func look(at now: MonotonicInstant) {
        let hasPaused = state.withLock { state in
            defer { state.lastLook = now }
            guard let last = state.lastLook, now.duration(since: last) > Self.longestPause else {
                return false
            }
            for index in loops.indices where state.askedAt[index] != nil {
                state.askedAt[index] = now
            }
            return true
        }
        for index in loops.indices { lookAtLoop(index, now) }
        guard !hasPaused else { return }
        let wasStalled = stalls.isCommitStalled
        if let news = stalls.note(.commit, commitWait()) { report(news) }
        if stalls.isCommitStalled, !wasStalled { commitStalled() }
    }

    private func lookAtLoop(_ index: Int, _ now: MonotonicInstant) {
        let asked = state.withLock { state in
            defer { state.askedAt[index] = state.askedAt[index] ?? now }
            return state.askedAt[index]
        }
        let news = stalls.note(.loop(index), asked.map { now.duration(since: $0) })
        if let news { report(news) }
        // A loop that has ended does not stand still.
        if asked == nil, !loops[index].post({ [self] _ in answer(index) }) { answer(index) }
    }

    private func answer(_ index: Int) { state.withLock { $0.askedAt[index] = nil } }
}
