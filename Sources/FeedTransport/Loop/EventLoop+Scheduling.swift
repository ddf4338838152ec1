extension EventLoop {
    /// Calls `body` once, after a time.
    @discardableResult
    package func addTimer(
        after delay: Duration,
        _ body: @escaping () -> Void
    ) throws(TransportError) -> LoopTimer {
        preconditionOnLoop()
        try requireRunning()
        return try LoopTimer(self, after: delay, every: nil, body)
    }

    /// Calls `body` repeatedly, first after one interval; late calls are not made up for.
    @discardableResult
    package func addTimer(
        every interval: Duration,
        _ body: @escaping () -> Void
    ) throws(TransportError) -> LoopTimer {
        preconditionOnLoop()
        try requireRunning()
        return try LoopTimer(self, after: interval, every: interval, body)
    }

    /// Makes a timer with a resolution of nanoseconds, and makes the loop's thread punctual.
    ///
    /// Call it on that thread.
    ///
    /// The timer always uses the system's clock.
    package func addPreciseTimer(
        _ body: @escaping () -> Void
    ) throws(TransportError) -> PreciseTimer {
        preconditionOnLoop()
        try requireRunning()
        Self.makeThreadPunctual()
        return try PreciseTimer(uv, body)
    }

    /// Calls `body` on the loop for each signal of that number that the process gets.
    package func onSignal(
        _ number: Int32,
        _ body: @escaping () -> Void
    ) throws(TransportError) {
        preconditionOnLoop()
        try requireRunning()
        try UVHandle.signal(number, uv).body = body
    }
}
