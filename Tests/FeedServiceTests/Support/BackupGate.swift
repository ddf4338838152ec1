import FeedTestSupport
import Foundation

/// Stands before each step of a backup's copy and lets it through when a test says so: a disk for
/// backups that is slow.
final class BackupGate: @unchecked Sendable {
    private let isClosed = Locked(true)
    private let arrived = DispatchSemaphore(value: 0)
    private let permits = DispatchSemaphore(value: 0)

    /// Waits until a step of a copy waits.
    func awaitStep() { arrived.wait() }

    /// Lets all steps through from now on.
    func open() {
        isClosed.withLock { $0 = false }
        permits.signal()
    }

    /// What a step passes.
    func pass() {
        guard isClosed.withLock({ $0 }) else { return }
        arrived.signal()
        permits.wait()
        permits.signal()
    }
}
