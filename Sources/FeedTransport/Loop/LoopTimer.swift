internal import FeedConcurrency

/// A timer of milliseconds on one loop; it lives until it is cancelled or has fired its last time.
package final class LoopTimer {
    private enum Source {
        case system(UVHandle)
        case manual(ManualTimers, ManualTimers.Identifier)
    }

    private let source: Source

    /// A started timer on the clock of `loop`; without `every` it fires once.
    init(
        _ loop: EventLoop,
        after: Duration,
        every: Duration?,
        _ body: @escaping () -> Void
    ) throws(TransportError) {
        let delay = UInt64(max(0, after.millisecondsRoundedUp))
        let interval = every.map { UInt64(max(1, $0.millisecondsRoundedUp)) }
        if let timers = loop.manualTimers {
            source = .manual(timers, timers.add(after: delay, every: interval, body))
            return
        }
        let handle = try UVHandle.timer(loop.uv)
        handle.body = { [handle] in
            if interval == nil { handle.close() }
            body()
        }
        handle.startTimer(afterMilliseconds: delay, everyMilliseconds: interval ?? 0)
        source = .system(handle)
    }

    /// Fires no more.
    package func cancel() {
        switch source {
        case .system(let handle): handle.close()
        case .manual(let timers, let identifier): timers.remove(identifier)
        }
    }
}

@available(*, unavailable)
extension LoopTimer: Sendable {}
