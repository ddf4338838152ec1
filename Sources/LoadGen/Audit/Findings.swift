/// What an audit found: the count of each violation, and the first examples as sentences.
package struct Findings: Sendable, Equatable {
    /// How often each violation was found.
    package private(set) var counts: [Violation: UInt64] = [:]
    /// The first examples, each a sentence.
    package private(set) var examples: [String] = []

    /// Nothing found.
    package init() {}

    /// Whether nothing was found.
    package var isEmpty: Bool { counts.isEmpty }

    /// Notes `count` cases of `violation`; the first of all cases keep their `example`.
    package mutating func note(
        _ violation: Violation,
        count: UInt64 = 1,
        _ example: @autoclosure () -> String
    ) {
        counts[violation, default: 0] += count
        if examples.count < Self.maximumExampleCount { examples.append(example()) }
    }

    /// Adds what another thread or another part of the audit found.
    package mutating func add(_ other: Findings) {
        counts.merge(other.counts, uniquingKeysWith: +)
        examples.append(
            contentsOf: other.examples.prefix(Self.maximumExampleCount - examples.count)
        )
    }

    /// A handful shows the pattern; a report of thousands would hide it.
    private static let maximumExampleCount = 10
}
