/// How long a slice of a checkpoint works before it is committed: in proportion to what a commit
/// costs, so that a disk with slow syncs is not synced all the time.
///
/// A slice holds no lock, and makes way for others in the middle, so that its length hinders nobody.
package struct SlicePace: Equatable {
    /// What a slice works at least.
    package static let minimumTime = Duration.milliseconds(5)
    /// What a slice works at most, however slow commits are.
    package static let maximumTime = Duration.milliseconds(400)
    /// The work for a commit, in times of its duration.
    package static let factor = 3
    /// The bytes of rows after which a slice ends in any case.
    ///
    /// They go to the disk at once, and the journal's next sync waits behind them.
    package static let maximumByteCount = 4 << 20

    /// How long the next slice works.
    package private(set) var workTime = Self.minimumTime

    /// A pace for a disk that is not known yet.
    package init() {}

    /// Takes note of how long a slice's commit took, its sync included.
    package mutating func observe(commit duration: Duration) {
        let wanted = min(max(duration * Self.factor, Self.minimumTime), Self.maximumTime)
        workTime = (workTime + wanted) / 2
    }
}
