/// How long a checkpoint step works before it is committed: in proportion to the time of a commit,
/// so that a disk with slow syncs is not synced all the time.
///
/// A step holds no lock, and lets other threads run in the middle, so its length hinders nobody.
package struct StepPace: Equatable {
    /// How long a step works at least.
    package static let minimumTime = Duration.milliseconds(5)
    /// How long a step works at most, however slow commits are.
    package static let maximumTime = Duration.milliseconds(400)
    /// The work for a commit, in times of its duration.
    package static let factor = 3
    /// The bytes of rows after which a step ends in any case.
    ///
    /// They go to the disk at once, and the journal's next sync waits behind them.
    package static let maximumByteCount = 4 << 20

    /// How long the next step works.
    package private(set) var workTime = Self.minimumTime

    /// A pace for a disk that is not known yet.
    package init() {}

    /// Takes note of how long a step's commit took, its sync included.
    package mutating func observe(commit duration: Duration) {
        let wanted = min(max(duration * Self.factor, Self.minimumTime), Self.maximumTime)
        workTime = (workTime + wanted) / 2
    }
}
