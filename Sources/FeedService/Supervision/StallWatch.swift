package import FeedConcurrency
package import FeedTransport
internal import Synchronization

/// Looks four times a second whether commits, event loops, checkpoints and backups go on, on a thread that
/// waits for none of them.
///
/// It wakes each loop through its mailbox; a loop stands still as long as it does not take its mail. A
/// look allocates nothing, unless it has news.
package final class StallWatch: Sendable {
    package static let interval = Duration.milliseconds(250)
    /// After a longer pause the process itself has stood still, and a look says nothing of the others.
    private static let longestPause = Duration.seconds(1)

    private struct State {
        var lastLook: MonotonicInstant?
        /// When each loop was asked; nil once it has answered.
        var askedAt: [MonotonicInstant?]
        /// The drains of each loop's mailbox before it was asked; another number is its answer.
        var drainCounts: [UInt64]
    }

    private let loops: [LoopMailbox]
    private let stalls: Stalls
    private let commitWait: @Sendable () -> Duration?
    private let others: @Sendable (Stalls.Subject) -> Duration?
    private let report: @Sendable (Stalls.News) -> Void
    private let commitStalled: @Sendable () -> Void
    private let state: Lock<State>
    private let thread = NamedThread("feed-stalls")
    private let stopping = Atomic(false)

    /// A watch that has not looked yet.
    ///
    /// `commitWait` says how long the oldest log entry waits for its commit, and `others` for how long a
    /// checkpoint or a backup has not gone on; nil is not at all. `commitStalled` is called when a commit has
    /// stood still for so long that calls are refused.
    package init(
        over loops: [LoopMailbox],
        _ stalls: Stalls,
        commitWait: @escaping @Sendable () -> Duration?,
        others: @escaping @Sendable (Stalls.Subject) -> Duration? = { _ in nil },
        report: @escaping @Sendable (Stalls.News) -> Void,
        commitStalled: @escaping @Sendable () -> Void
    ) {
        self.loops = loops
        self.stalls = stalls
        self.commitWait = commitWait
        self.others = others
        self.report = report
        self.commitStalled = commitStalled
        state = Lock(
            State(askedAt: loops.map { _ in nil }, drainCounts: loops.map { _ in 0 })
        )
    }

    package func start() throws(ThreadStartError) {
        try thread.start { [self] in
            while !stopping.load(ordering: .acquiring) {
                look(at: .now)
                thread.waitForWakeUp(upTo: Self.interval)
            }
            // So that the end of a stall is said also if the service ends soon after it.
            look(at: .now)
        }
    }

    /// Ends the thread, and waits for its end.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        thread.wake()
        thread.join()
    }

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
        if let news = stalls.note(.checkpoint, others(.checkpoint)) { report(news) }
        if let news = stalls.note(.backup, others(.backup)) { report(news) }
    }

    private func lookAtLoop(_ index: Int, _ now: MonotonicInstant) {
        let drainCount = loops[index].drainCount
        let asked = state.withLock { state in
            if state.drainCounts[index] != drainCount { state.askedAt[index] = nil }
            return state.askedAt[index]
        }
        let news = stalls.note(.loop(index), asked.map { now.duration(since: $0) })
        if let news { report(news) }
        // A loop that has ended does not stand still.
        guard asked == nil, loops[index].wake() else { return }
        state.withLock { state in
            state.askedAt[index] = now
            state.drainCounts[index] = drainCount
        }
    }
}

/// What stands still now, as ``StallWatch`` finds it; any thread reads it.
package final class Stalls: Sendable {
    package enum Subject: Hashable, Sendable, Comparable {
        /// The oldest log entry waits for its commit.
        case commit
        /// The event loop of this number does not come to its next iteration.
        case loop(Int)
        /// The checkpoint thread does not come to its next step.
        case checkpoint
        /// A call of the backup under way does not return.
        case backup

        /// What stands still for so long is a line of the log: a call waits for a commit or a loop at once.
        var noticeTime: Duration {
            switch self {
            case .commit, .loop: .seconds(2)
            case .checkpoint, .backup: .seconds(10)
            }
        }

        /// Whether calls wait for it: then it is a cause not to be ready.
        var isAwaited: Bool { noticeTime == .seconds(2) }
    }

    /// What has begun to stand still, or goes on.
    package enum News: Equatable, Sendable {
        /// It has stood still for its ``Subject/noticeTime`` or longer.
        case stands(Subject, Duration)
        /// It goes on, after so long.
        case goesOn(Subject, after: Duration)
    }

    private let limit: Duration
    private let standing = Lock<[Subject: Duration]>([:])
    /// What keeps all changes out: each vote reads this one number.
    private let obstacles: Atomic<UInt8>
    private static let stalledCommit: UInt8 = 1
    private static let otherLeader: UInt8 = 2

    /// After the limit it is a cause not to be ready, and a commit one to refuse calls.
    ///
    /// A service that is one of a cluster's begins as a follower.
    package init(limit: Duration, isFollowing: Bool = false) {
        self.limit = limit
        obstacles = Atomic(isFollowing ? Self.otherLeader : 0)
    }

    /// Whether one of the two keeps changes out: a commit that stands still, or another leader.
    var keepsChangesOut: Bool { obstacles.load(ordering: .relaxed) != 0 }

    /// Whether a commit has stood still for so long that calls are refused.
    package var isCommitStalled: Bool {
        obstacles.load(ordering: .relaxed) & Self.stalledCommit != 0
    }

    /// Whether the service is one of a cluster's and does not lead.
    package var isFollowing: Bool { obstacles.load(ordering: .relaxed) & Self.otherLeader != 0 }

    /// The service leads from now on, or does not any more.
    package func setFollowing(_ isFollowing: Bool) { set(Self.otherLeader, isFollowing) }

    /// A commit has come to its end.
    package func commitEnded() {
        if isCommitStalled { set(Self.stalledCommit, false) }
    }

    private func set(_ obstacle: UInt8, _ stands: Bool) {
        if stands {
            obstacles.bitwiseOr(obstacle, ordering: .releasing)
        } else {
            obstacles.bitwiseAnd(~obstacle, ordering: .releasing)
        }
    }

    /// How long each subject has stood still that does so for its ``Subject/noticeTime`` or longer.
    package var times: [Subject: Duration] { standing.withLock { $0 } }

    /// The subjects that calls wait for and that have stood still for the limit or longer, with their times.
    package var overLimit: [(subject: Subject, time: Duration)] {
        // A commit that has ended stands until the next look, but calls are taken again at once.
        times.filter { $0.key.isAwaited }
            .filter { $0.key == .commit ? isCommitStalled : isOverLimit($0.value) }
            .sorted { $0.key < $1.key }.map { (subject: $0.key, time: $0.value) }
    }

    /// Notes how long a subject has stood still, nil if it goes on; for the thread of the watch.
    package func note(_ subject: Subject, _ time: Duration?) -> News? {
        if subject == .commit { set(Self.stalledCommit, time.map(isOverLimit) ?? false) }
        return standing.withLock { standing in
            guard let time, time >= subject.noticeTime else {
                return standing.removeValue(forKey: subject).map { .goesOn(subject, after: $0) }
            }
            let isNew = standing.updateValue(time, forKey: subject) == nil
            return isNew ? .stands(subject, time) : nil
        }
    }

    /// The watch looks again an interval later, which must not be too late.
    private func isOverLimit(_ time: Duration) -> Bool { time + StallWatch.interval > limit }
}

/// Compares the time of day with the monotonic clock.
///
/// If they part by more than five minutes, the clock was set, and posts would get wrong times.
///
/// Changes that take a time check the clock before their admission, and the first loop checks it
/// every second. Smaller corrections of the clock are followed.
package final class ClockWatch: Sendable {
    /// The jump that is not followed, in milliseconds.
    package static let limitMilliseconds: Int64 = 5 * 60 * 1000
    /// The least correction that is logged, in milliseconds; the small steps of a synchronised clock
    /// are not logged.
    package static let loggedMilliseconds: Int64 = 1000

    package enum News: Equatable, Sendable {
        /// The clock is wrong by these milliseconds, and changes are refused.
        case jumped(by: Int64)
        case agrees
        /// The clock was set by these milliseconds, and is followed.
        case corrected(by: Int64)
    }

    /// The two clocks when they last agreed, and the news that were not logged.
    private struct State {
        var wallMilliseconds: Int64
        var monotonicMilliseconds: Int64
        var isJumpLogged = false
        var unloggedCorrection: Int64 = 0
    }

    private let timeOfDay: @Sendable () -> Int64
    private let monotonic: @Sendable () -> Int64
    private let state: Lock<State>
    private let jump = Atomic<Int64>(0)

    /// A watch that begins with the time of day as the right one.
    ///
    /// Milliseconds since 1970, and those of a monotonic clock since any time.
    package init(
        timeOfDay: @escaping @Sendable () -> Int64,
        monotonic: @escaping @Sendable () -> Int64 = { SystemClock.continuousMilliseconds() }
    ) {
        self.timeOfDay = timeOfDay
        self.monotonic = monotonic
        state = Lock(
            State(wallMilliseconds: timeOfDay(), monotonicMilliseconds: monotonic())
        )
    }

    /// The difference between the time of day and the right one at the last check, in milliseconds; 0
    /// within the limit.
    package var jumpMilliseconds: Int64 { jump.load(ordering: .relaxed) }

    /// Checks both clocks, in some 100 ns; returns the time of day, or the right time after a jump.
    package func now() -> Int64 {
        state.withLock { state in
            let wall = timeOfDay()
            let monotonic = monotonic()
            let expected = state.wallMilliseconds + monotonic - state.monotonicMilliseconds
            let difference = wall - expected
            guard abs(difference) <= Self.limitMilliseconds else {
                jump.store(difference, ordering: .relaxed)
                return expected
            }
            jump.store(0, ordering: .relaxed)
            if abs(difference) >= Self.loggedMilliseconds { state.unloggedCorrection += difference }
            state.wallMilliseconds = wall
            state.monotonicMilliseconds = monotonic
            return wall
        }
    }

    /// Checks both clocks, so that ``jumpMilliseconds`` is of now; costs as much as ``now()``.
    package func check() { _ = now() }

    /// The news of the clock since the last call; nil where there are none.
    package func takeNews() -> News? {
        state.withLock { state in
            let difference = jumpMilliseconds
            if state.isJumpLogged != (difference != 0) {
                state.isJumpLogged = difference != 0
                return difference == 0 ? .agrees : .jumped(by: difference)
            }
            guard state.unloggedCorrection != 0 else { return nil }
            defer { state.unloggedCorrection = 0 }
            return .corrected(by: state.unloggedCorrection)
        }
    }
}
