internal import FeedState
internal import FeedTransport
internal import Logging
internal import Synchronization

/// What the threads behind the state have to say, to the loops and to the log.
final class StateOutcomes: Sendable {
    private struct Listeners {
        var loops: [LoopMailbox] = []
        var failed: (@Sendable () -> Void)?
        /// The failure came before anybody listened.
        var hasFailed = false
    }

    private let listeners = Mutex(Listeners())
    private let slow = Mutex<ContinuousClock.Instant?>(nil)
    private let logger: Logger

    /// Writes to this logger.
    init(_ logger: Logger) { self.logger = logger }

    /// The loops that hold answers, and what is durable by now: they may have missed it.
    func wake(_ loops: [LoopMailbox], durableCut: UInt64) {
        listeners.withLock { $0.loops = loops }
        release(through: durableCut)
    }

    /// Calls `body` once the state can no more be made durable.
    func onFailure(_ body: @escaping @Sendable () -> Void) {
        let hasFailed = listeners.withLock { listeners in
            listeners.failed = body
            return listeners.hasFailed
        }
        if hasFailed { body() }
    }

    /// What to tell the state's threads of.
    func events() -> DurableState.Events {
        var events = DurableState.Events()
        events.durable = { [self] in release(through: $0) }
        events.failed = { [self] in fail($0) }
        events.slow = { [self] in warn(of: $0) }
        events.readOnly = { [logger] isReadOnly in
            if isReadOnly {
                logger.error("the disk is nearly full: changes are refused, reads go on")
            } else {
                logger.notice("the disk has room again: changes are taken")
            }
        }
        return events
    }

    private func release(through cut: UInt64) {
        let loops = listeners.withLock { $0.loops }
        for loop in loops {
            loop.post { ServiceLoop.of($0).outlet.release(through: cut) }
        }
    }

    private func fail(_ error: StateStartError) {
        logger.critical("stopped: the state can no more be made durable. \(error)")
        let failed = listeners.withLock { listeners in
            listeners.hasFailed = true
            return listeners.failed
        }
        failed?()
    }

    /// At most one line a second.
    private func warn(of duration: Duration) {
        let now = ContinuousClock.now
        let isDue = slow.withLock { last in
            if let last, last.duration(to: now) < .seconds(1) { return false }
            last = now
            return true
        }
        guard isDue else { return }
        let milliseconds = duration / .milliseconds(1)
        logger.warning("a commit took \(Int(milliseconds)) ms: the disk is slow")
    }
}
