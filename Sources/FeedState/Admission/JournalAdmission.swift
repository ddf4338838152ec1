/// How many bytes of log entries may wait for the journal: as many as it is expected to take soon.
///
/// A disk that has become slow must not be answered by a queue that grows. What waits is bounded by
/// what the disk takes in about a second, and the rest is refused before it is executed.
package struct JournalAdmission: Equatable {
    /// A commit that takes longer is worth a warning, and lowers what may wait for the next.
    package static let slowCommit = Duration.milliseconds(100)
    /// What may wait in any case, so that the disk's speed is still measured.
    package static let minimumByteCount = 64 << 10

    /// What may wait for a disk of usual speed.
    private let maximumByteCount: Int

    /// What may wait now.
    package private(set) var byteCount: Int

    /// An admission for a disk of usual speed.
    package init(maximumByteCount: Int) {
        self.maximumByteCount = maximumByteCount
        byteCount = maximumByteCount
    }

    /// Takes note of a commit; one that was slow lowers the limit, and later ones raise it again.
    package mutating func observe(byteCount written: Int, took duration: Duration) {
        guard duration > Self.slowCommit else {
            byteCount = min(maximumByteCount, byteCount * 2)
            return
        }
        let perSecond = Double(written) / (duration / .seconds(1))
        byteCount = max(Self.minimumByteCount, min(byteCount, Int(perSecond)))
    }
}
