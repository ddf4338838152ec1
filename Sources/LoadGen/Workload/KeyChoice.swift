import Foundation

/// Picks the post of each request: a key distribution over a number of posts.
package struct KeyChoice: Sendable {
    /// How many posts there are; a pick is below it.
    package let postCount: Int
    private let distribution: KeyDistribution
    /// Whether each pick is any post, with the same probability.
    let isUniform: Bool
    private let zipf: ZipfDistribution
    /// The posts by the weights of their ranks; nil where there are none, or too many posts.
    private let table: AliasTable?
    private let hotCount: Int
    /// The post of each rank; empty where ranks are not scattered.
    private let scattered: [UInt32]

    /// Prepares to pick among `postCount` posts; `seed` decides which post has which rank.
    package init(_ distribution: KeyDistribution, postCount: Int, seed: UInt64) {
        precondition(postCount >= 1, "A workload needs a post.")
        self.distribution = distribution
        isUniform = distribution == .uniform
        self.postCount = postCount
        var exponent = 0.0
        var hotCount = 0
        var isScattered = false
        switch distribution {
        case .zipf(let given): (exponent, isScattered) = (given, true)
        case .latest(let given): exponent = given
        case .hot(let fraction, _):
            hotCount = min(postCount, max(1, Int((fraction * Double(postCount)).rounded())))
            isScattered = true
        case .uniform, .sequential, .one: break
        }
        zipf = ZipfDistribution(count: postCount, exponent: exponent)
        self.hotCount = hotCount
        // A table instead of a cipher for each request: 4 bytes a post buy some 20 ns a request.
        let permutation = Permutation(count: postCount, seed: seed)
        scattered = isScattered ? (0..<postCount).map { UInt32(permutation($0)) } : []
        table =
            postCount <= Self.largestTable
            ? Self.table(distribution, zipf, scattered: scattered) : nil
    }

    /// The table of a distribution by ranks; nil for others.
    private static func table(
        _ distribution: KeyDistribution,
        _ zipf: ZipfDistribution,
        scattered: [UInt32]
    ) -> AliasTable? {
        switch distribution {
        case .zipf: AliasTable(scattered, weights: zipf.weights)
        case .latest:
            AliasTable((0..<UInt32(zipf.count)).reversed(), weights: zipf.weights)
        case .uniform, .hot, .sequential, .one: nil
        }
    }

    /// The most posts of a table, which has 12 bytes a post.
    ///
    /// A draw from it costs a tenth of one by rejection-inversion, which needs logarithms.
    private static let largestTable = 1 << 20

    /// The post of the request number `index` of a client, in O(1).
    @inline(__always)
    package func next(_ stream: inout RandomStream, index: Int) -> Int {
        if let table { return Int(table.next(&stream)) }
        return nextWithoutTable(&stream, index: index)
    }

    @inline(never)
    private func nextWithoutTable(_ stream: inout RandomStream, index: Int) -> Int {
        switch distribution {
        case .uniform: stream.nextIndex(below: postCount)
        case .zipf: Int(scattered[zipf.next(&stream) - 1])
        case .latest: postCount - zipf.next(&stream)
        case .hot(_, let share): Int(scattered[nextHotRank(&stream, share)])
        case .sequential: index % postCount
        case .one: 0
        }
    }

    /// The share of all requests that the most requested post gets.
    package var hottestShare: Double {
        switch distribution {
        case .uniform, .sequential: 1 / Double(postCount)
        case .zipf, .latest: zipf.probability(ofRank: 1)
        case .hot(_, let share):
            max(
                share / Double(hotCount),
                hotCount < postCount ? (1 - share) / Double(postCount - hotCount) : 0
            )
        case .one: 1
        }
    }

    private func nextHotRank(_ stream: inout RandomStream, _ share: Double) -> Int {
        if hotCount == postCount || stream.nextUnit() < share {
            return stream.nextIndex(below: hotCount)
        }
        return hotCount + stream.nextIndex(below: postCount - hotCount)
    }
}

/// How requests spread over the posts, as `--keys` names it.
package enum KeyDistribution: Sendable, Equatable {
    case uniform
    /// A few posts get most: rank k has probability proportional to k^-exponent, and ranks are
    /// scattered.
    case zipf(exponent: Double)
    /// A fraction of the posts gets the given share of the requests.
    case hot(fraction: Double, share: Double)
    /// As `zipf`, with the newest post in rank 1.
    case latest(exponent: Double)
    case sequential
    case one
}

extension KeyDistribution: CustomStringConvertible {
    /// The text that `--keys` takes.
    package var description: String {
        switch self {
        case .uniform: "uniform"
        case .zipf(let exponent): "zipf:\(exponent)"
        case .hot(let fraction, let share): "hot:\(fraction):\(share)"
        case .latest(let exponent): "latest:\(exponent)"
        case .sequential: "seq"
        case .one: "one"
        }
    }

    package init?(parsing text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let numbers = parts.dropFirst().map { Double($0) ?? .nan }
        guard numbers.allSatisfy({ $0.isFinite && $0 >= 0 }) else { return nil }
        switch (parts[0], numbers.count) {
        case ("uniform", 0): self = .uniform
        case ("seq", 0): self = .sequential
        case ("one", 0): self = .one
        case ("zipf", 1) where numbers[0] <= Self.maximumExponent:
            self = .zipf(exponent: numbers[0])
        case ("latest", 1) where numbers[0] <= Self.maximumExponent:
            self = .latest(exponent: numbers[0])
        case ("hot", 2) where numbers[0] > 0 && numbers[0] <= 1 && numbers[1] <= 1:
            self = .hot(fraction: numbers[0], share: numbers[1])
        default: return nil
        }
    }

    /// Beyond this exponent practically every request goes to the first rank.
    private static let maximumExponent = 20.0
}

/// Draws one of many values with given weights: one random number, one multiplication and one read.
///
/// The alias method (A. J. Walker, "An Efficient Method for Generating Discrete Random Variables with
/// General Distributions", ACM TOMS 3.3, 1977), with the table made in linear time (M. D. Vose, "A
/// Linear Algorithm for Generating Random Numbers with a Given Distribution", IEEE TSE 17.9, 1991).
/// Each place has the same share and holds two values. A draw is as exact as 2^-32 of a place.
package struct AliasTable: Sendable {
    private struct Place: Sendable {
        /// The share of `value` in the place, in 2^-32.
        var share: UInt32
        let value: UInt32
        var other: UInt32
    }

    private var places: [Place]

    /// A table of `values` with positive `weights`, one for each; O(n), 12 bytes a value.
    package init(_ values: [UInt32], weights: [Double]) {
        precondition(!values.isEmpty && values.count == weights.count, "Each value has a weight.")
        let unit = Double(values.count) / weights.reduce(0, +)
        var shares = weights.map { $0 * unit }
        places = values.map { Place(share: .max, value: $0, other: $0) }
        var poor = shares.indices.filter { shares[$0] < 1 }
        var rich = shares.indices.filter { shares[$0] >= 1 }
        while let lower = poor.popLast(), let upper = rich.popLast() {
            places[lower].share = UInt32(shares[lower] * 0x1p32)
            places[lower].other = places[upper].value
            shares[upper] -= 1 - shares[lower]
            if shares[upper] < 1 { poor.append(upper) } else { rich.append(upper) }
        }
        // What is left differs from a whole place by rounding alone.
    }

    @inline(__always)
    package func next(_ stream: inout RandomStream) -> UInt32 {
        let (high, low) = stream.next().multipliedFullWidth(by: UInt64(places.count))
        let place = places[Int(truncatingIfNeeded: high)]
        return UInt32(truncatingIfNeeded: low >> 32) < place.share ? place.value : place.other
    }

    /// The probability of each place's values, for tests: by value, in no order.
    package var probabilities: [UInt32: Double] {
        var sums: [UInt32: Double] = [:]
        for place in places {
            let share = place.value == place.other ? 1 : Double(place.share) / 0x1p32
            sums[place.value, default: 0] += share / Double(places.count)
            sums[place.other, default: 0] += (1 - share) / Double(places.count)
        }
        return sums
    }
}

/// Ranks from 1 to `count`, where rank `k` comes with probability proportional to `k^-exponent`.
///
/// Rejection-inversion (W. Hörmann and G. Derflinger, "Rejection-Inversion to Generate Variates from
/// Monotone Discrete Distributions", ACM TOMACS 6.3, 1996): constant time and memory for any count
/// and any exponent from 0 up. The names follow the paper: `h` is the hat, `H` its integral.
package struct ZipfDistribution: Sendable {
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
