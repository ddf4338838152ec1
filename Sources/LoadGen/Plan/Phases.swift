/// The phases of a run on the monotonic clock: warm-up, then measured, then drain.
package struct Phases: Sendable, Equatable {
    /// When the first request may leave.
    package let startNanoseconds: UInt64
    /// When the warm-up ends: requests meant for a later instant are measured.
    package let measureFromNanoseconds: UInt64
    /// When sending ends; `UInt64.max` where a number of requests ends it.
    package let measureUntilNanoseconds: UInt64

    /// The phases of a run that starts at `start`; without a `duration` only its requests end it.
    package init(start: UInt64, warmup: Duration, duration: Duration?) {
        startNanoseconds = start
        measureFromNanoseconds = start + warmup.nanoseconds
        measureUntilNanoseconds =
            duration.map { start + warmup.nanoseconds + $0.nanoseconds } ?? .max
    }

    /// When interval `number` ends.
    ///
    /// Intervals are seconds counted from the end of the warm-up in both directions, so that none
    /// lies in both phases; the first may be shorter.
    package func intervalEnd(_ number: Int) -> UInt64 {
        let warmup = measureFromNanoseconds - startNanoseconds
        let rest = warmup % Self.intervalNanoseconds
        let first = rest == 0 ? Self.intervalNanoseconds : rest
        return startNanoseconds + first + UInt64(number) * Self.intervalNanoseconds
    }

    /// Whether all of interval `number` is measured.
    package func isMeasuredInterval(_ number: Int) -> Bool {
        let start = number == 0 ? startNanoseconds : intervalEnd(number - 1)
        return start >= measureFromNanoseconds && intervalEnd(number) <= measureUntilNanoseconds
    }

    /// Whether a request meant for `instant` counts in the statistics.
    package func isMeasured(_ instant: UInt64) -> Bool {
        instant >= measureFromNanoseconds && instant < measureUntilNanoseconds
    }

    private static let intervalNanoseconds: UInt64 = 1_000_000_000
}

extension Duration {
    /// The whole nanoseconds of a duration that is not negative and shorter than 500 years.
    package var nanoseconds: UInt64 {
        UInt64(components.seconds) * 1_000_000_000 + UInt64(components.attoseconds / 1_000_000_000)
    }
}
