/// A timer of milliseconds on one loop; it lives until it is cancelled or has fired its last time.
package final class LoopTimer {
    private let handle: UVHandle

    /// A started timer; without `every` it fires once.
    init(
        _ loop: UVLoop,
        after: Duration,
        every: Duration?,
        _ body: @escaping () -> Void
    ) throws(TransportError) {
        handle = try UVHandle.timer(loop)
        let isRepeating = every != nil
        handle.body = { [handle] in
            if !isRepeating { handle.close() }
            body()
        }
        handle.startTimer(
            afterMilliseconds: UInt64(max(0, after.wholeMilliseconds)),
            everyMilliseconds: UInt64(max(0, every.map { max(1, $0.wholeMilliseconds) } ?? 0))
        )
    }

    /// Fires no more.
    package func cancel() {
        handle.close()
    }
}

@available(*, unavailable)
extension LoopTimer: Sendable {}
