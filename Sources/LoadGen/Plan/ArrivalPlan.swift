import Foundation

/// How requests of an open loop are spread over time, as `--arrival` names it.
package enum Arrival: String, Sendable, CaseIterable {
    /// Exponential gaps, as many independent users produce them.
    case poisson
    /// Equal gaps.
    case uniform
}

/// When each request of one thread is due, in nanoseconds from the start.
///
/// The plan reads no clock.
package struct ArrivalPlan: Sendable {
    /// When the next request is due.
    package private(set) var nextNanoseconds: UInt64 = 0

    private let arrival: Arrival
    private let gapNanoseconds: Double
    private let ramp: RateRamp?
    private let thread: Int
    private let threadCount: Int
    private var stream: RandomStream
    private var index = 0
    private var elapsedNanoseconds = 0.0
    /// Requests of all threads due before the next one; counted in a ramp only.
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

    /// Advances to the request after the next.
    package mutating func advance() {
        if let ramp { return advance(ramp) }
        switch arrival {
        case .uniform:
            nextNanoseconds = UInt64(Double(index * threadCount + thread) * gapNanoseconds)
        case .poisson:
            let unit = 1 - stream.nextUnit()
            elapsedNanoseconds -= log(unit) * gapNanoseconds * Double(threadCount)
            nextNanoseconds = UInt64(elapsedNanoseconds)
        }
        index += 1
    }

    /// Advances a plan whose time is stretched so that the rate follows a ramp.
    private mutating func advance(_ ramp: RateRamp) {
        switch arrival {
        case .uniform: elapsedCount = Double(index * threadCount + thread)
        case .poisson: elapsedCount -= log(1 - stream.nextUnit()) * Double(threadCount)
        }
        nextNanoseconds = UInt64(ramp.nanoseconds(ofRequest: elapsedCount))
        index += 1
    }
}
