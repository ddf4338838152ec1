import CLibUV

extension EventLoop {
    /// The monotonic clock now, read anew.
    package static var clock: MonotonicInstant { MonotonicInstant(nanoseconds: uv_hrtime()) }

    /// The processor time that the calling thread has used.
    package static var threadTime: Duration { .nanoseconds(clibuv_thread_cpu_nanoseconds()) }

    /// Lets the calling thread be woken when it asked to, not 50 µs later to save power.
    static func makeThreadPunctual() {
        // Where it is refused, timers are late by that much; nothing else changes.
        _ = clibuv_set_timer_slack(1)
    }

    /// The calling thread, to tell the loop's own from others.
    static var currentThread: UInt { UInt(uv_thread_self()) }
}
