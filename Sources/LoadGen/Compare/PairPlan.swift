/// The order in which a comparison of two servers measures its pairs of slices.
///
/// A pair is two slices, one after another. Half of the pairs begin with A, half with B, and pairs
/// of A with itself, the control, are spread among them; the order is drawn from the seed. A tainted
/// pair is measured again at once, a limited number of times.
package struct PairPlan: Sendable {
    /// What the two slices of a pair measure.
    package enum Pair: Sendable, Equatable {
        /// A, then B.
        case firstA
        /// B, then A.
        case firstB
        /// A twice.
        case control
    }

    /// Pairs that were measured again.
    package private(set) var repeatedCount = 0
    /// Tainted pairs that were kept because they had been repeated often enough.
    package private(set) var keptTaintedCount = 0

    private var rest: [Pair]
    private let repeatLimit: Int
    private var repeats = 0

    /// A plan of `rounds` pairs and `controlCount` pairs of the control.
    package init(rounds: Int, controlCount: Int, seed: UInt64, repeatLimit: Int) {
        var stream = RandomStream(seed: seed, thread: 0, client: 0, purpose: .slices)
        rest =
            (0..<rounds).map { $0.isMultiple(of: 2) ? .firstA : .firstB }
            + [Pair](repeating: .control, count: controlCount)
        for place in rest.indices.reversed() {
            rest.swapAt(place, stream.nextIndex(below: place + 1))
        }
        self.repeatLimit = repeatLimit
    }

    /// The pair to measure now; nil at the end.
    package var next: Pair? { rest.last }
    /// How many pairs are left.
    package var remainingCount: Int { rest.count }

    /// Takes the end of the pair; returns whether its figures are used.
    package mutating func measured(isTainted: Bool) -> Bool {
        if isTainted, repeats < repeatLimit {
            repeats += 1
            repeatedCount += 1
            return false
        }
        if isTainted { keptTaintedCount += 1 }
        repeats = 0
        rest.removeLast()
        return true
    }
}
