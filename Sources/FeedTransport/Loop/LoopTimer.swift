import CLibUV
package import FeedConcurrency

/// A timer of milliseconds on one loop; it lives until it is cancelled or has fired its last time.
package final class LoopTimer {
    private enum Source {
        case system(UVHandle)
        case manual(ManualTimers, number: Int)
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
            source = .manual(timers, number: timers.add(after: delay, every: interval, body))
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

    package func cancel() {
        switch source {
        case .system(let handle): handle.close()
        case .manual(let timers, let number): timers.remove(number)
        }
    }
}

@available(*, unavailable)
extension LoopTimer: Sendable {}

/// A timer of nanoseconds, for pacing; it fires at or after the instant it is armed for.
package final class PreciseTimer {
    private let descriptor: Int32
    private let handle: UVHandle
    private var due: MonotonicInstant?
    private var isOpen = true

    /// A timer that calls `body`; wake-ups of the thread may then be late by at most a nanosecond.
    init(_ loop: UVLoop, _ body: @escaping () -> Void) throws(TransportError) {
        let created = try uvResult(clibuv_timer_create(), .other("Creating a timer"))
        let descriptor = Int32(created ?? -1)
        do {
            handle = try UVHandle.poll(descriptor, loop)
        } catch {
            UVSocket.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        // Both hold the timer until the handle is closed.
        handle.body = { self.fire(body) }
        handle.closed = {
            self.isOpen = false
            UVSocket.close(descriptor)
        }
        handle.startPolling()
    }

    /// Sets the only instant to fire at, in place of the previous one.
    ///
    /// A past instant fires at once.
    package func arm(at instant: MonotonicInstant) {
        guard isOpen else { return }
        due = instant
        // Instant 0 would disarm.
        let code = clibuv_timer_arm(descriptor, max(1, instant.nanoseconds))
        precondition(code == 0, "A timer refused the instant \(instant.nanoseconds).")
    }

    /// Fires no more until armed again.
    package func disarm() {
        guard isOpen else { return }
        due = nil
        _ = clibuv_timer_arm(descriptor, 0)
    }

    package func cancel() { handle.close() }

    private func fire(_ body: () -> Void) {
        // Armed anew or disarmed since the wait in which it expired: nothing is due.
        guard let due, due <= MonotonicInstant.now else { return }
        self.due = nil
        body()
        // Arming clears the expiration; without it the descriptor would stay readable.
        if self.due == nil { disarm() }
    }
}

@available(*, unavailable)
extension PreciseTimer: Sendable {}
