import Glibc
import Synchronization

package enum TestEnvironment {
    package static func number(_ name: String) -> UInt64? {
        guard let text = unsafe getenv(name) else { return nil }
        return UInt64(unsafe String(cString: text))
    }

    /// The first seed of a test that takes one after another: `FEED_FIRST_SEED`, so that long runs
    /// in pieces have other seeds in each, else 1.
    package static var firstSeed: UInt64 { number("FEED_FIRST_SEED") ?? 1 }

    /// Seeds for a test: the one in `FEED_SEED` to replay a failure, else the given ones, which
    /// `FEED_FIRST_SEED` moves.
    package static func seeds(_ seeds: ClosedRange<UInt64>) -> [UInt64] {
        number("FEED_SEED").map { [$0] } ?? seeds.map { $0 + (firstSeed - 1) }
    }

    /// How many operations a test against a model makes in all: those given, or
    /// `FEED_MODEL_OPERATIONS` where that is fewer, as a sanitizer makes each many times slower.
    package static func modelOperations(_ count: Int) -> Int {
        min(count, number("FEED_MODEL_OPERATIONS").map { Int(clamping: $0) } ?? count)
    }
}

/// Salts for segments: none twice in a process, as chance would draw them, and no chance in them.
package enum TestSalt {
    private static let count = Atomic<UInt64>(0)

    /// One that no segment has had.
    package static func next() -> UInt64 {
        count.wrappingAdd(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
    }
}
