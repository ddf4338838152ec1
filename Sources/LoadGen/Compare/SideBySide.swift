/// How two servers are compared, as `--ab` asks for it.
package struct SideBySideConfiguration: Sendable {
    package var target: String
    package var wireProtocol: WireProtocol
    /// Pairs of A and B.
    package var rounds = 24
    /// Pairs of A and A.
    package var controlCount = 8
    package var slice = Duration.seconds(3)
    /// How long a slice runs before it is measured.
    package var settle = Duration.milliseconds(500)
    package var repeatLimit = 3
    /// The difference that counts, as a share.
    package var limit = 0.03

    package init(target: String, wireProtocol: WireProtocol) {
        self.target = target
        self.wireProtocol = wireProtocol
    }

    package static let mostPairs = 200
    /// The share of the machine that steal and other processes may take in a slice.
    package static let taintLimit = 0.03
}

/// What one slice of one server measured.
package struct Slice: Sendable, Equatable {
    package var perSecond = 0.0
    /// CPU-seconds of the server per million operations; nil where its process was not seen.
    package var serverCost: Double?
    /// CPU-seconds of the generator per million operations.
    package var generatorCost: Double?
    /// The 99th percentile of the response time in nanoseconds; nil without enough answers.
    package var response99: Double?
    /// Bytes in both directions for each operation.
    package var bytesPerOperation = 0.0
    package var writesPerOperation = 0.0
    /// Time that the host gave to other machines and that other processes took, as a share of all
    /// cores.
    package var foreignShare = 0.0
    package var isReconnected = false

    package init() {}

    /// Whether the figures are of more than the server and the load.
    package var isTainted: Bool {
        foreignShare > SideBySideConfiguration.taintLimit || isReconnected
    }
}

package struct SlicePair: Sendable, Equatable {
    /// Which came first, and of what.
    package let pair: PairPlan.Pair
    /// The slice of A; of the control the one that stands for A.
    package let a: Slice
    /// The slice of B; of the control the one that stands for B.
    package let b: Slice

    package init(_ pair: PairPlan.Pair, a: Slice, b: Slice) {
        self.pair = pair
        self.a = a
        self.b = b
    }
}

package enum ComparedFigure: String, Sendable, CaseIterable {
    /// Operations a second: more is faster.
    case throughput
    /// CPU-seconds of the server per million operations: less is faster.
    case serverCost = "server CPU"
    /// The 99th percentile of the response time: less is faster.
    case response99 = "response p99"

    package func value(_ slice: Slice) -> Double? {
        switch self {
        case .throughput: slice.perSecond > 0 ? slice.perSecond : nil
        case .serverCost: slice.serverCost
        case .response99: slice.response99
        }
    }

    package var isRate: Bool { self == .throughput }
}

package struct SideBySideResult: Sendable {
    /// What was asked for; its target is A.
    package var configuration: RunConfiguration
    package var comparison: SideBySideConfiguration
    package var environment: Environment
    /// The pairs whose figures are used.
    package var pairs: [SlicePair] = []
    package var repeatedCount = 0
    /// Tainted pairs among `pairs`.
    package var keptTaintedCount = 0
    package var isInterrupted = false
    package var audits: (a: AuditOutcome, b: AuditOutcome) = (.skipped, .skipped)

    package init(
        _ configuration: RunConfiguration,
        _ comparison: SideBySideConfiguration,
        environment: Environment
    ) {
        self.configuration = configuration
        self.comparison = comparison
        self.environment = environment
    }

    package var comparedPairs: [SlicePair] { pairs.filter { $0.pair != .control } }
    /// The pairs of A and A.
    package var controlPairs: [SlicePair] { pairs.filter { $0.pair == .control } }

    /// The ratio B ÷ A of a figure; nil where too few pairs have it.
    package func ratio(_ figure: ComparedFigure) -> RatioEstimate? {
        Self.ratio(figure, comparedPairs)
    }

    /// The ratio of the control, in which nothing differs; nil without enough pairs.
    package func control(_ figure: ComparedFigure) -> RatioEstimate? {
        Self.ratio(figure, controlPairs)
    }

    package func judgement(_ figure: ComparedFigure) -> Judgement {
        let ratio = ratio(figure)
        return Judgement(
            figure.isRate ? ratio : ratio?.inverse,
            limit: comparison.limit,
            floor: control(figure)?.reach ?? 0
        )
    }

    /// The median of a figure over the slices of A or of B.
    package func median(of slice: KeyPath<SlicePair, Slice>, _ value: (Slice) -> Double?) -> Double?
    {
        let values = comparedPairs.compactMap { value($0[keyPath: slice]) }.sorted()
        return values.isEmpty ? nil : values[values.count / 2]
    }

    /// The exit code: a failed audit outranks one that could not be done.
    package var exitStatus: ExitStatus {
        if audits.a.isFailed || audits.b.isFailed { return .auditFailed }
        for case .impossible in [audits.a, audits.b] { return .failed }
        return .success
    }

    private static func ratio(_ figure: ComparedFigure, _ pairs: [SlicePair]) -> RatioEstimate? {
        RatioEstimate(
            pairs: pairs.compactMap { pair in
                guard let a = figure.value(pair.a), let b = figure.value(pair.b), a > 0 else {
                    return nil
                }
                return b / a
            }
        )
    }
}

/// The order in which a comparison of two servers measures its pairs of slices.
///
/// A pair is two slices, one after another. Half of the pairs begin with A, half with B, and pairs
/// of A with itself, the control, are spread among them; the order is drawn from the seed. A tainted
/// pair is measured again at once, a limited number of times.
package struct PairPlan: Sendable {
    package enum Pair: Sendable, Equatable {
        case firstA
        case firstB
        case control
    }

    package private(set) var repeatedCount = 0
    /// Tainted pairs that were kept because they had been repeated often enough.
    package private(set) var keptTaintedCount = 0

    private var rest: [Pair]
    private let repeatLimit: Int
    private var repeats = 0

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
