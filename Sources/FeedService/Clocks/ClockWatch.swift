internal import FeedConcurrency
internal import Synchronization

/// Compares the time of day with the monotonic clock.
///
/// If they part by more than five minutes, the clock was set, and posts would get wrong times.
///
/// Changes that take a time check the clock before their admission, and the first loop checks it
/// every second. Smaller corrections of the clock are followed.
package final class ClockWatch: Sendable {
    /// The jump that is not followed, in milliseconds.
    package static let limitMilliseconds: Int64 = 5 * 60 * 1000
    /// The least correction that is logged, in milliseconds; the small steps of a synchronised clock
    /// are not logged.
    package static let loggedMilliseconds: Int64 = 1000

    package enum News: Equatable, Sendable {
        /// The clock is wrong by these milliseconds, and changes are refused.
        case jumped(by: Int64)
        case agrees
        /// The clock was set by these milliseconds, and is followed.
        case corrected(by: Int64)
    }

    /// The two clocks when they last agreed, and the news that were not logged.
    private struct State {
        var wallMilliseconds: Int64
        var monotonicMilliseconds: Int64
        var isJumpLogged = false
        var unloggedCorrection: Int64 = 0
    }

    private let timeOfDay: @Sendable () -> Int64
    private let monotonic: @Sendable () -> Int64
    private let state: Lock<State>
    private let jump = Atomic<Int64>(0)

    /// A watch that begins with the time of day as the right one.
    ///
    /// Milliseconds since 1970, and those of a monotonic clock since any time.
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

    /// The difference between the time of day and the right one at the last check, in milliseconds; 0
    /// within the limit.
    package var jumpMilliseconds: Int64 { jump.load(ordering: .relaxed) }

    /// Checks both clocks, in some 100 ns; returns the time of day, or the right time after a jump.
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
            if abs(difference) >= Self.loggedMilliseconds { state.unloggedCorrection += difference }
            state.wallMilliseconds = wall
            state.monotonicMilliseconds = monotonic
            return wall
        }
    }

    /// Checks both clocks, so that ``jumpMilliseconds`` is of now; costs as much as ``now()``.
    package func check() { _ = now() }

    /// The news of the clock since the last call; nil where there are none.
    package func takeNews() -> News? {
        state.withLock { state in
            let difference = jumpMilliseconds
            if state.isJumpLogged != (difference != 0) {
                state.isJumpLogged = difference != 0
                return difference == 0 ? .agrees : .jumped(by: difference)
            }
            guard state.unloggedCorrection != 0 else { return nil }
            defer { state.unloggedCorrection = 0 }
            return .corrected(by: state.unloggedCorrection)
        }
    }
}
