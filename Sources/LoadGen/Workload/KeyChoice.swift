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
    /// Every post gets the same share.
    case uniform
    /// A few posts get most: rank k has probability proportional to k^-exponent, and ranks are
    /// scattered.
    case zipf(exponent: Double)
    /// A fraction of the posts gets the given share of the requests.
    case hot(fraction: Double, share: Double)
    /// As `zipf`, with the newest post in rank 1.
    case latest(exponent: Double)
    /// Each client goes through the posts in order.
    case sequential
    /// One post gets all requests.
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

    /// The distribution that `text` names, or nil.
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
