internal import FeedConcurrency

/// A call that is known only after those who make it.
final class WakeUp: Sendable {
    /// Around the closure, which by itself would be wrapped anew at each access to a generic lock.
    private struct Call: Sendable {
        var body: (@Sendable () -> Void)?
    }

    private let state = Lock(Call())

    /// Says what is called.
    func set(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.body = body }
    }

    /// Calls it, if it is known.
    func call() {
        let call = state.withLock { $0 }
        call.body?()
    }
}
