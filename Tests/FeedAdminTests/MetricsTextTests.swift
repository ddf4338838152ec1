import FeedAdmin
import Testing

/// Metrics as text.
struct MetricsTextTests {
    @Test func aMetricHasItsTypeUnitAndHelp() {
        let families = [
            MetricFamily.counter("feed_commit_bytes", "Bytes of all commits.", 17),
            .counter("feed_errors", "Errors,\nby \\ reason.", by: "reason", [("A\"B\\C\nD", 2)]),
            .gauge("feed_age_seconds", "An age.", Duration.milliseconds(250)),
            .gauge("feed_ready", "Whether.", true),
            .gauge("feed_memory_bytes", "Memory.", by: "kind", [("posts", 1.5)]),
        ]
        let text = String(decoding: MetricsText.openMetrics.encode(families), as: UTF8.self)
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
                # TYPE feed_memory_bytes gauge
                # UNIT feed_memory_bytes bytes
                # HELP feed_memory_bytes Memory.
                feed_memory_bytes{kind="posts"} 1.5
                # EOF

                """
        )
    }

    @Test func theClassicFormNamesValuesAndHasNeitherUnitsNorAnEnd() {
        let families = [
            MetricFamily.counter("feed_commit_bytes", "Bytes of all commits.", 17),
            MetricFamily(
                "feed_build",
                .info,
                help: "What runs.",
                samples: [.init(1, [("version", "0.2.0")], suffix: "_info")]
            ),
        ]
        #expect(
            String(decoding: MetricsText.classic.encode(families), as: UTF8.self) == """
                # TYPE feed_commit_bytes_total counter
                # HELP feed_commit_bytes_total Bytes of all commits.
                feed_commit_bytes_total 17
                # TYPE feed_build_info gauge
                # HELP feed_build_info What runs.
                feed_build_info{version="0.2.0"} 1

                """
        )
    }

    @Test(arguments: [
        ("", MetricsText.classic), ("*/*", .classic), ("text/plain;version=0.0.4", .classic),
        (
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3",
            .openMetrics
        ),
    ])
    func theFormIsTheOneThatAcceptNames(accept: String, form: MetricsText) {
        #expect(MetricsText(accept: accept) == form)
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
        let lines = String(decoding: MetricsText.openMetrics.encode([family]), as: UTF8.self)
            .split(separator: "\n")
        #expect(lines.dropLast().last == "x \(text)")
    }
}
