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
