internal import FeedConcurrency
internal import Synchronization

/// Compares the time of day with a clock that only counts on: where the two part by more than five
/// minutes, somebody has set the clock, and posts would be stamped with times that are not theirs.
///
/// Changes that take a time look before they are admitted, and the first loop looks every second.
/// What the clock is corrected by in smaller steps is followed.
package final class ClockWatch: Sendable {
    /// The jump that is not followed, in milliseconds.
    package static let limitMilliseconds: Int64 = 5 * 60 * 1000
    /// The correction, in milliseconds, from which on operators are told: clocks that are kept right
    /// by small steps say nothing.
    package static let toldMilliseconds: Int64 = 1000

    /// What operators should hear of the clock.
    package enum News: Equatable, Sendable {
        /// The clock is off by so many milliseconds: changes are refused.
        case jumped(by: Int64)
        /// The clock can be gone by again.
        case agrees
        /// The clock was set by so many milliseconds, and is followed.
        case corrected(by: Int64)
    }

    /// The two clocks when they last agreed, and what there is to tell.
    private struct State {
        var wallMilliseconds: Int64
        var monotonicMilliseconds: Int64
        var isJumpTold = false
        var untoldCorrection: Int64 = 0
    }

    private let timeOfDay: @Sendable () -> Int64
    private let monotonic: @Sendable () -> Int64
    private let state: Lock<State>
    private let jump = Atomic<Int64>(0)

    /// A watch that takes the time of day for right as it is now.
    ///
    /// - Parameters:
    ///   - timeOfDay: Unix milliseconds.
    ///   - monotonic: Milliseconds of a clock that nobody sets, since any time.
    package init(
        timeOfDay: @escaping @Sendable () -> Int64,
        monotonic: @escaping @Sendable () -> Int64 = { SystemClock.continuousMilliseconds() }
    ) {
        self.timeOfDay = timeOfDay
        self.monotonic = monotonic
        state = Lock(
            State(wallMilliseconds: timeOfDay(), monotonicMilliseconds: monotonic())
        )
    }

    /// How far the time of day was from where it should be, in milliseconds, when it was last looked
    /// at; 0 where it could be gone by.
    package var jumpMilliseconds: Int64 { jump.load(ordering: .relaxed) }

    /// Looks at both clocks; the time of day, or after a jump what it should be.
    ///
    /// O(1), some 100 ns.
    @discardableResult
    package func now() -> Int64 {
        state.withLock { state in
            let wall = timeOfDay()
            let monotonic = monotonic()
            let expected = state.wallMilliseconds + monotonic - state.monotonicMilliseconds
            let difference = wall - expected
            guard abs(difference) <= Self.limitMilliseconds else {
                jump.store(difference, ordering: .relaxed)
                return expected
            }
            jump.store(0, ordering: .relaxed)
            if abs(difference) >= Self.toldMilliseconds { state.untoldCorrection += difference }
            state.wallMilliseconds = wall
            state.monotonicMilliseconds = monotonic
            return wall
        }
    }

    /// What has become of the clock since it was last told; nil where there is nothing to tell.
    package func takeNews() -> News? {
        state.withLock { state in
            let difference = jumpMilliseconds
            if state.isJumpTold != (difference != 0) {
                state.isJumpTold = difference != 0
                return difference == 0 ? .agrees : .jumped(by: difference)
            }
            guard state.untoldCorrection != 0 else { return nil }
            defer { state.untoldCorrection = 0 }
            return .corrected(by: state.untoldCorrection)
        }
    }
}
