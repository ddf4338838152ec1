package import Histogram

/// The stretch of a request's life that a latency covers.
package enum Measure: Int, Sendable, CaseIterable {
    /// From sent to answered: the time that the service took.
    case service
    /// From the intended start to answered: the time that a user waits. In a closed loop it equals
    /// `service`.
    case response
    /// From the intended start to sent: the delay of the generator.
    case slip

    /// The name in reports.
    package var name: String {
        switch self {
        case .service: "service"
        case .response: "response"
        case .slip: "generator slip"
        }
    }
}

/// Latencies of many requests, in nanoseconds.
package typealias LatencyHistogram = Histogram<UInt64>

/// The range and the precision of every latency histogram, so that any two can be added.
package enum LatencyScale {
    /// Values below it share a bucket.
    package static let lowestNanoseconds: UInt64 = 64
    /// Longer latencies count as this one: no request outlives the largest `--timeout`.
    package static let highestNanoseconds: UInt64 = 120_000_000_000

    /// An empty histogram: three digits from 64 ns to 2 min.
    package static func makeHistogram() -> LatencyHistogram {
        LatencyHistogram(
            lowestDiscernibleValue: lowestNanoseconds,
            highestTrackableValue: highestNanoseconds,
            numberOfSignificantValueDigits: .three
        )
    }
}
