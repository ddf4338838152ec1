/// What is left of a connection's life, after which it is closed and opened again on purpose, as
/// `--reconnect-every` and `--conn-life` ask for.
package struct RemainingLife {
    private let life: ConnectionLife
    /// Where the ages are drawn from.
    private var ages: RandomStream
    /// Requests that the connection may still take; the greatest number where they do not end it.
    private var requestCount = UInt64.max
    /// When its age ends it, in nanoseconds of the monotonic clock.
    private var endNanoseconds = UInt64.max

    /// A life that has not begun, which has no end yet.
    package init(_ life: ConnectionLife, ages: RandomStream) {
        self.life = life
        self.ages = ages
    }

    /// Begins a life, whose age is drawn.
    package mutating func begin(at now: UInt64) {
        requestCount = life.requestCount ?? .max
        endNanoseconds = life.nextAge(&ages).map { now + $0 } ?? .max
    }

    /// Whether a number of requests ends it.
    @inline(__always)
    package var isCounted: Bool { requestCount != .max }

    /// Whether it has taken its requests.
    @inline(__always)
    package var isUsedUp: Bool { requestCount == 0 }

    /// Whether its age has ended it.
    package func isOver(at now: UInt64) -> Bool { now >= endNanoseconds }

    /// How many of the requests for which there is room it may take.
    @inline(__always)
    package func limited(_ room: Int) -> Int {
        isCounted ? min(room, Int(clamping: requestCount)) : room
    }

    /// Counts requests of a life that is counted; no more than ``limited(_:)`` allows.
    @inline(__always)
    package mutating func take(_ count: Int) { requestCount -= UInt64(count) }
}
