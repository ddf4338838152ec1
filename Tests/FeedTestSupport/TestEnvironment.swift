import Glibc

/// What the environment asks of a test run.
package enum TestEnvironment {
    /// The number in a variable of the environment.
    package static func number(_ name: String) -> UInt64? {
        guard let text = unsafe getenv(name) else { return nil }
        return UInt64(unsafe String(cString: text))
    }

    /// Seeds for a test: the one in `FEED_SEED` to replay a failure, else the given ones.
    package static func seeds(_ seeds: ClosedRange<UInt64>) -> [UInt64] {
        number("FEED_SEED").map { [$0] } ?? Array(seeds)
    }

    /// How many operations a model test makes in all: `FEED_MODEL_OPERATIONS`, or those given.
    package static func modelOperations(_ count: Int) -> Int {
        Int(number("FEED_MODEL_OPERATIONS") ?? UInt64(count))
    }
}
