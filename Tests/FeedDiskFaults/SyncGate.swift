import CFaultVFS
import Dispatch
import FeedTestSupport

/// The system's own files for SQLite, whose syncs go through when a test says so: a slow disk, or
/// one that stands still.
///
/// It is never given back, as a service may close its database late. Syncs come from one thread.
@safe
package final class SyncGate: @unchecked Sendable {
    private struct State {
        var isClosed = false
        var syncCount = 0
        var onSync: @Sendable () -> Void = {}
    }

    package let name: String
    private let state = Locked(State())
    private let arrived = DispatchSemaphore(value: 0)
    private let permits = DispatchSemaphore(value: 0)

    private static let count = Locked(0)

    package init() {
        name = Self.count.withLock { count in
            count += 1
            return "sync-gate-\(count)"
        }
        let gate = unsafe Unmanaged.passRetained(self).toOpaque()
        let isKnown = unsafe gate_vfs_register(name, gate) { gate in
            unsafe Unmanaged<SyncGate>.fromOpaque(gate).takeUnretainedValue().pass()
        }
        precondition(isKnown, "There is no memory for a virtual file system.")
    }

    package func close() { state.withLock { $0.isClosed = true } }

    package func awaitSync() { arrived.wait() }

    /// Lets one sync through that waits, or will.
    package func letOneThrough() { permits.signal() }

    /// Lets the sync through that waits, and all to come.
    package func open() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = false }
            return state.isClosed
        }
        if wasClosed { permits.signal() }
    }

    /// Calls `body` before each sync, on the thread that makes it.
    package func onSync(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onSync = body }
    }

    /// How many syncs there were, with the one that waits.
    package var syncCount: Int { state.withLock { $0.syncCount } }

    private func pass() {
        let (isClosed, onSync) = state.withLock { state in
            state.syncCount += 1
            return (state.isClosed, state.onSync)
        }
        onSync()
        guard isClosed else { return }
        arrived.signal()
        permits.wait()
    }
}
