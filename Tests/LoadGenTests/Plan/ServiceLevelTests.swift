import LoadGen
import Testing

@Suite struct ServiceLevelTests {
    @Test(
        arguments: [
            ("p99<5ms", .percentile(99, nil), .below, 5e6),
            ("p99.9<=20ms", .percentile(99.9, nil), .atMost, 2e7),
            ("vote.p99.9<20ms", .percentile(99.9, .vote), .below, 2e7),
            ("page.max<1s", .maximum(.page), .below, 1e9),
            ("rate>=100k", .rate, .atLeast, 1e5),
            ("rate>5", .rate, .above, 5),
            ("errors<0.01%", .errors, .below, 0.01),
            ("cpu<6s/M", .serverCPU, .below, 6),
            ("audit=ok", .audit, .equal, 1),
        ] as [(String, ServiceLevel.Subject, ServiceLevel.Comparison, Double)]
    )
    func readsExpressions(
        _ text: String,
        _ subject: ServiceLevel.Subject,
        _ comparison: ServiceLevel.Comparison,
        _ limit: Double
    ) throws {
        let level = try #require(ServiceLevel(parsing: text))
        #expect(level.subject == subject)
        #expect(level.comparison == comparison)
        #expect(abs(level.limit - limit) <= 1e-9 * limit)
    }

    @Test(arguments: [
        "", "p99", "p99=5ms", "p0<5ms", "p100<1s", "p99<5x", "like.p99<5ms", "rate>=fast",
        "errors<x%",
        "p99<5", "max<1", "errors<1", "cpu<6", "cpu<s/M", "audit<ok", "audit=bad", "<5ms", "p99<",
    ])
    func refuses(_ text: String) {
        #expect(ServiceLevel(parsing: text) == nil)
    }

    @Test func holdsByItsComparison() throws {
        let below = try #require(ServiceLevel(parsing: "errors<1%"))
        let atLeast = try #require(ServiceLevel(parsing: "rate>=10"))
        #expect(below.holds(0.99) && !below.holds(1))
        #expect(atLeast.holds(10) && !atLeast.holds(9.9))
        #expect(!below.holds(nil))
    }

    @Test(
        arguments: [
            (50, 19, .hidden), (50, 20, .rough), (50, 199, .rough), (50, 200, .good),
            (99, 999, .hidden),
            (99, 1000, .rough), (99, 9999, .rough), (99, 10_000, .good), (99.99, 99_999, .hidden),
            (99.99, 100_000, .rough), (99.99, 1_000_000, .good),
        ] as [(Double, UInt64, PercentileText.Trust)]
    )
    func trustsAPercentileByTheSamplesBeyondIt(
        _ percentile: Double,
        _ count: UInt64,
        _ trust: PercentileText.Trust
    ) {
        #expect(PercentileText.trust(percentile: percentile, count: count) == trust)
    }
}
