import Foundation

/// The phases of a run on the monotonic clock: warm-up, then measured, then drain.
package struct Phases: Sendable, Equatable {
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

/// How requests of an open loop are spread over time, as `--arrival` names it.
package enum Arrival: String, Sendable, CaseIterable {
    /// Exponential gaps, as many independent users produce them.
    case poisson
    case uniform
}

/// When each request of one thread is due, in nanoseconds from the start.
///
/// The plan reads no clock.
package struct ArrivalPlan: Sendable {
    package private(set) var nextNanoseconds: UInt64 = 0

    private let arrival: Arrival
    private let gapNanoseconds: Double
    private let ramp: RateRamp?
    private let thread: Int
    private let threadCount: Int
    private var stream: RandomStream
    private var index = 0
    /// Requests of all threads due before the next one.
    private var elapsedCount = 0.0

    /// The share of thread number `thread` in `ratePerSecond` requests of `threadCount` threads.
    ///
    /// Uniform arrivals are one sequence dealt round robin: thread `k` of `n` gets requests k, k +
    /// n, …. With a `ramp` the rate is its mean.
    package init(
        _ arrival: Arrival,
        ratePerSecond: Double,
        ramp: RateRamp? = nil,
        thread: Int,
        threadCount: Int,
        seed: UInt64
    ) {
        precondition(ratePerSecond > 0 && threadCount > 0, "An open loop needs a rate.")
        self.arrival = arrival
        self.ramp = ramp
        self.thread = thread
        self.threadCount = threadCount
        gapNanoseconds = 1e9 / ratePerSecond
        stream = RandomStream(seed: seed, thread: thread, client: 0, purpose: .arrivals)
        advance()
    }

    package mutating func advance() {
        switch arrival {
        case .uniform: elapsedCount = Double(index * threadCount + thread)
        case .poisson: elapsedCount -= log(1 - stream.nextUnit()) * Double(threadCount)
        }
        // A ramp stretches the time of an even rate.
        let nanoseconds =
            ramp?.nanoseconds(ofRequest: elapsedCount) ?? elapsedCount * gapNanoseconds
        nextNanoseconds = UInt64(nanoseconds)
        index += 1
    }
}

/// How long a client waits between an answer and its next request, as `--think` names it.
package enum ThinkTime: Sendable, Equatable {
    case none
    case constant(Duration)
    /// Exponentially distributed with a mean: memoryless, as of many independent users.
    case exponential(Duration)
    case uniform(Duration, Duration)

    /// The forms that `--think` takes, for its error.
    package static let forms = "0, 5ms, exp:5ms or uniform:1ms,9ms, each at most 1h"

    package init?(parsing text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let times = (parts.last ?? "").split(separator: ",", omittingEmptySubsequences: false)
            .map { Quantity.duration(String($0)) }
        guard parts.count <= 2, times.allSatisfy({ $0.map { $0 <= .seconds(3600) } ?? false })
        else { return nil }
        let known = times.compactMap(\.self)
        switch (parts.count == 2 ? parts[0] : "", known.count) {
        case ("", 1): self = known[0] == .zero ? .none : .constant(known[0])
        case ("exp", 1) where known[0] > .zero: self = .exponential(known[0])
        case ("uniform", 2) where known[0] <= known[1]: self = .uniform(known[0], known[1])
        default: return nil
        }
    }

    /// The next time, in nanoseconds.
    package func next(_ stream: inout RandomStream) -> UInt64 {
        switch self {
        case .none: return 0
        case .constant(let time): return time.nanoseconds
        case .exponential(let mean):
            return UInt64(-log(1 - stream.nextUnit()) * Double(mean.nanoseconds))
        case .uniform(let low, let high):
            let span = Double(high.nanoseconds - low.nanoseconds)
            return low.nanoseconds + UInt64(stream.nextUnit() * span)
        }
    }
}

extension ThinkTime: CustomStringConvertible {
    /// The text that `--think` takes.
    package var description: String {
        switch self {
        case .none: "0"
        case .constant(let time): NumberFormat.duration(time)
        case .exponential(let mean): "exp:\(NumberFormat.duration(mean))"
        case .uniform(let low, let high):
            "uniform:\(NumberFormat.duration(low)),\(NumberFormat.duration(high))"
        }
    }
}

/// When connections are closed and opened again, as `--reconnect-every` and `--conn-life` say.
package struct ConnectionLife: Sendable, Equatable {
    /// Requests after which a connection is closed; nil is never.
    package var requestCount: UInt64?
    /// The age at which a connection is closed; nil is never.
    package var age: Duration?
    /// An age is up to this much shorter or longer, evenly distributed.
    package var jitter = Duration.zero

    package init() {}

    package var isEndless: Bool { requestCount == nil && age == nil }

    /// Takes the age that `text` names, as `30s` or `30s±5s` (or `30s+-5s`); returns false where
    /// it is none.
    package mutating func takeAge(_ text: String) -> Bool {
        let parts = text.replacing("+-", with: "±").split(
            separator: "±",
            omittingEmptySubsequences: false
        ).map { Quantity.duration(String($0)) }
        guard let age = parts[0], age >= .milliseconds(100), age <= .seconds(86_400) else {
            return false
        }
        guard parts.count > 1 else {
            self.age = age
            return true
        }
        guard parts.count == 2, let jitter = parts[1], jitter < age else { return false }
        (self.age, self.jitter) = (age, jitter)
        return true
    }

    /// How long the next connection lives, in nanoseconds; nil where its age does not end it.
    func nextAge(_ stream: inout RandomStream) -> UInt64? {
        guard let age else { return nil }
        let spread = Double(jitter.nanoseconds) * (2 * stream.nextUnit() - 1)
        return UInt64(Double(age.nanoseconds) + spread)
    }
}
