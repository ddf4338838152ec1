import FeedAdmin
import Testing

/// Metrics as text.
struct OpenMetricsTextTests {
    @Test func aMetricHasItsTypeUnitAndHelp() {
        let families = [
            MetricFamily.counter("feed_commit_bytes", unit: "bytes", "Bytes of all commits.", 17),
            MetricFamily(
                "feed_errors",
                .counter,
                help: "Errors,\nby \\ reason.",
                samples: [.total(2, [MetricFamily.Label("reason", "A\"B\\C\nD")])]
            ),
            .seconds("feed_age_seconds", "An age.", 0.25),
            .flag("feed_ready", "Whether.", true),
        ]
        let text = String(decoding: OpenMetricsText.encode(families), as: UTF8.self)
        #expect(
            text == """
                # TYPE feed_commit_bytes counter
                # UNIT feed_commit_bytes bytes
                # HELP feed_commit_bytes Bytes of all commits.
                feed_commit_bytes_total 17
                # TYPE feed_errors counter
                # HELP feed_errors Errors,\\nby \\\\ reason.
                feed_errors_total{reason="A\\"B\\\\C\\nD"} 2
                # TYPE feed_age_seconds gauge
                # UNIT feed_age_seconds seconds
                # HELP feed_age_seconds An age.
                feed_age_seconds 0.25
                # TYPE feed_ready gauge
                # HELP feed_ready Whether.
                feed_ready 1
                # EOF

                """
        )
    }

    @Test(
        arguments: [
            (0.000_1, "0.0001"), (2, "2"), (-3, "-3"), (1e17, "1e+17"), (.nan, "NaN"),
            (.infinity, "+Inf"),
            (-.infinity, "-Inf"),
        ] as [(Double, String)]
    )
    func numbersAreThoseOfTheFormat(value: Double, text: String) {
        let family = MetricFamily("x", .gauge, help: "", samples: [MetricFamily.Sample(value)])
        let lines = String(decoding: OpenMetricsText.encode([family]), as: UTF8.self)
            .split(separator: "\n")
        #expect(lines.dropLast().last == "x \(text)")
    }
}
