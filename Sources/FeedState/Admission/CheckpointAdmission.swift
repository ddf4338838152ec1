package import FeedJournal

/// How many bytes of changes may be let in, so that checkpoints keep up with the journal.
///
/// Below half of the backlog's limit it restricts nothing. From there on it is a token bucket: bytes
/// are let in at a multiple of the speed that checkpoints are measured to have, twice as fast at
/// half of the limit, as fast at three quarters, and at the limit not at all. So under
/// a steady load the backlog stays at three quarters. A minimum lets some changes in, so that the
/// speed is still measured. Time is handed in; every call is O(1).
///
/// Commits wait until the bucket is full again, for ``longestCommitDelay`` at most. So clients that
/// wait for their answers are slowed, and a change is refused only where more come all the same.
package struct CheckpointAdmission {
    /// The share of the limit from which changes are slowed.
    package static let slowingShare = 0.5
    /// The share of the limit from which checkpoints are sure to be busy, and are measured.
    private static let measuringShare = 0.25
    /// The speed that is assumed before any was measured, in bytes a second.
    private static let assumedBytesPerSecond = 64.0 * 1_048_576
    /// What is let in at least, in bytes a second, where the limit is not reached.
    package static let minimumBytesPerSecond = 64.0 * 1_024
    /// How long the speed is measured before it counts.
    package static let measuringTime = Duration.seconds(1)
    /// The weight of the newest measurement in the speed: a checkpoint takes in changes for some seconds
    /// before it writes, so the speed is a mean over about five.
    private static let measuringWeight = 0.2
    /// For how long the bucket keeps tokens that nobody uses.
    private static let burstTime = Duration.milliseconds(100)
    /// How long a commit is put off at most: all answers behind it wait as long.
    package static let longestCommitDelay = Duration.milliseconds(20)
    /// The least and the most that a refused client is told to wait.
    private static let retryTimes: ClosedRange<Double> = 0.05...1

    package private(set) var bytesPerSecond = Self.assumedBytesPerSecond
    /// How long a client that is refused now should wait.
    package private(set) var retryTime = Duration.zero
    package private(set) var commitDelay = Duration.zero
    /// When the measurement began, and what was written by then; nil while none is under way.
    private var measurement: (began: ContinuousClock.Instant, written: UInt64)?
    /// The bytes that may be let in, below 0 where more were; nil where nothing is restricted.
    private var tokens: Double?
    private var lastRefill = ContinuousClock.now

    package init() {}

    /// Takes note of the backlog and of the bytes that a commit batch took out of the logs.
    ///
    /// - Returns: The bytes that may wait in the logs; below 0 where nothing may be let in, `.max`
    ///   where nothing is restricted.
    package mutating func update(
        _ backlog: CheckpointBacklog,
        committing byteCount: Int = 0,
        at now: ContinuousClock.Instant
    ) -> Int {
        let share = backlog.share
        measure(backlog, share, now)
        guard share >= Self.slowingShare else {
            tokens = nil
            retryTime = .zero
            commitDelay = .zero
            return .max
        }
        guard share < 1 else {
            tokens = 0
            lastRefill = now
            retryTime = .seconds(Self.retryTimes.upperBound)
            // Nothing more is let in, and what was is not kept waiting.
            commitDelay = .zero
            return -1
        }
        let speed = max(Self.minimumBytesPerSecond, bytesPerSecond * 4 * (1 - share))
        let capacity = max(Self.minimumBytesPerSecond, speed * (Self.burstTime / .seconds(1)))
        let left: Double
        if let tokens {
            let refill = speed * (lastRefill.duration(to: now) / .seconds(1))
            left = min(capacity, tokens + refill) - Double(byteCount)
        } else {
            left = capacity
        }
        tokens = left
        lastRefill = now
        commitDelay = min(.seconds((capacity - left) / speed), Self.longestCommitDelay)
        let wait = -left / speed
        retryTime = .seconds(min(max(wait, Self.retryTimes.lowerBound), Self.retryTimes.upperBound))
        return left >= 1 ? Int(left) : -1
    }

    private mutating func measure(
        _ backlog: CheckpointBacklog,
        _ share: Double,
        _ now: ContinuousClock.Instant
    ) {
        // With little to do, their speed would say how little that is.
        guard share >= Self.measuringShare else {
            measurement = nil
            return
        }
        guard let begun = measurement else {
            measurement = (now, backlog.writtenByteCount)
            return
        }
        let passed = begun.began.duration(to: now)
        guard passed >= Self.measuringTime else { return }
        let written = Double(backlog.writtenByteCount &- begun.written)
        bytesPerSecond += (written / (passed / .seconds(1)) - bytesPerSecond) * Self.measuringWeight
        measurement = (now, backlog.writtenByteCount)
    }
}

/// What is durable in the journal and not yet written to `state.db`.
package struct CheckpointBacklog: Sendable, Equatable {
    /// The bytes of log entries that wait, with those that the checkpoint under way has not written yet.
    package var pendingByteCount: Int
    package var limitByteCount: Int
    /// The bytes of log entries that checkpoints have written since the start; never falls.
    package var writtenByteCount: UInt64

    package init(pendingByteCount: Int, limitByteCount: Int, writtenByteCount: UInt64 = 0) {
        self.pendingByteCount = pendingByteCount
        self.limitByteCount = limitByteCount
        self.writtenByteCount = writtenByteCount
    }

    /// The share of the limit that is used up; above 1 where the last changes went beyond it.
    package var share: Double {
        Double(pendingByteCount) / Double(max(1, limitByteCount))
    }
}

/// What the log says of checkpoints that slow changes.
package enum CheckpointNews: Sendable, Equatable {
    /// Changes are slowed, or refused where the backlog has reached its limit.
    case lagging(CheckpointBacklog, bytesPerSecond: Int, refusedCount: UInt64)
    /// Changes are taken at full speed again: it took so long, and so many were refused.
    case caughtUp(after: Duration, refusedCount: UInt64)
    /// The disk has no room for `state.db`; the journal keeps the records.
    case stalled(StorageError)
    /// `state.db` is written again, after so long.
    case resumed(after: Duration)
}
