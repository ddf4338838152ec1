import Foundation

/// Ranks from 1 to `count`, where rank `k` comes with probability proportional to `k^-exponent`.
///
/// Rejection-inversion (W. Hörmann and G. Derflinger, "Rejection-Inversion to Generate Variates from
/// Monotone Discrete Distributions", ACM TOMACS 6.3, 1996): constant time and memory for any count
/// and any exponent from 0 up. The names follow the paper: `h` is the hat, `H` its integral.
package struct ZipfDistribution: Sendable {
    /// How many ranks there are.
    package let count: Int
    /// How steep the distribution is; 0 is uniform.
    package let exponent: Double

    private let integralAtFirst: Double
    private let integralAtLast: Double
    private let squeeze: Double

    /// Prepares the constants of the method; `count` is at least 1.
    package init(count: Int, exponent: Double) {
        precondition(count >= 1 && exponent >= 0, "A Zipf distribution needs a rank.")
        self.count = count
        self.exponent = exponent
        integralAtFirst = Self.integral(1.5, exponent) - 1
        integralAtLast = Self.integral(Double(count) + 0.5, exponent)
        let second = Self.integral(2.5, exponent) - Self.hat(2, exponent)
        squeeze = 2 - Self.inverseIntegral(second, exponent)
    }

    /// The next rank of `stream`, in O(1).
    package func next(_ stream: inout RandomStream) -> Int {
        while true {
            let area = integralAtLast + stream.nextUnit() * (integralAtFirst - integralAtLast)
            let point = Self.inverseIntegral(area, exponent)
            let rank = min(max(point.rounded(), 1), Double(count))
            // Most points lie so close to their rank that no further check is needed.
            if rank - point <= squeeze
                || area >= Self.integral(rank + 0.5, exponent) - Self.hat(rank, exponent)
            {
                return Int(rank)
            }
        }
    }

    /// The weight of each rank, first to last, in O(count).
    package var weights: [Double] { (1...count).map { Self.hat(Double($0), exponent) } }

    /// The probability of `rank` in closed form, in O(count).
    package func probability(ofRank rank: Int) -> Double {
        var sum = 0.0
        for other in (1...count).reversed() { sum += Self.hat(Double(other), exponent) }
        return Self.hat(Double(rank), exponent) / sum
    }

    private static func hat(_ point: Double, _ exponent: Double) -> Double {
        exp(-exponent * log(point))
    }

    /// The integral of the hat, (x^(1-s) - 1) / (1 - s), written so that s = 1 is no special case.
    private static func integral(_ point: Double, _ exponent: Double) -> Double {
        let logarithm = log(point)
        let scaled = (1 - exponent) * logarithm
        return logarithm * (abs(scaled) < 1e-8 ? 1 + scaled / 2 : expm1(scaled) / scaled)
    }

    private static func inverseIntegral(_ area: Double, _ exponent: Double) -> Double {
        let scaled = max(area * (1 - exponent), -1)
        return exp(area * (abs(scaled) < 1e-8 ? 1 - scaled / 2 : log1p(scaled) / scaled))
    }
}
