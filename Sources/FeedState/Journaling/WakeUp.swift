internal import Synchronization

/// A call that is known only after those who make it.
final class WakeUp: Sendable {
    private let body = Mutex<(@Sendable () -> Void)?>(nil)

    /// Says what is called.
    func set(_ body: @escaping @Sendable () -> Void) {
        self.body.withLock { $0 = body }
    }

    /// Calls it, if it is known.
    func call() {
        let body = self.body.withLock { $0 }
        body?()
    }
}
