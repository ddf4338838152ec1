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

    /// A count scaled by the percentage in `FEED_SCALE`, for slow builds.
    package static func scaled(_ count: Int) -> Int {
        max(count * Int(number("FEED_SCALE") ?? 100) / 100, 1)
    }
}
