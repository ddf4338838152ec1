import FeedAdmin
import FeedTestSupport
import Foundation
import Testing

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

/// The ring of the last hour.
struct HistoryTests {
    struct Answer: Decodable, Equatable {
        let columns: [String]
        let causes: [String]
        let facts: [String]
        let next: Int
        let rows: [[Double?]]
    }

    static func read(_ history: History, after number: Int) throws -> Answer {
        let json = history.json(
            after: number,
            causes: ["a \"b\"\n"],
            facts: ["version 1"],
            errors: [("X", 3)]
        )
        return try JSONDecoder().decode(Answer.self, from: Data(json))
    }

    @Test func rowsAreReadOnceEach() throws {
        let history = History(["a", "b"])
        #expect(try Self.read(history, after: -1).rows.isEmpty)
        history.append([1, .nan], at: 1_000)
        history.append([2.5, 0.000_012_5], at: 2_000)
        let all = try Self.read(history, after: -1)
        #expect(all.rows == [[1_000, 1, nil], [2_000, 2.5, 0.000_012_5]])
        #expect(all.next == 2)
        #expect(all.columns == ["a", "b"])
        #expect(all.causes == ["a \"b\"\n"])
        #expect(all.facts == ["version 1"])
        #expect(try Self.read(history, after: 0).rows == [[2_000, 2.5, 0.000_012_5]])
        #expect(try Self.read(history, after: 1).rows.isEmpty)
        // A reader of an earlier run of the service.
        #expect(try Self.read(history, after: 7).rows.count == 2)
    }

    @Test func anHourIsKept() throws {
        let history = History(["a"])
        for number in 0..<History.rowCount + 10 {
            history.append([Double(number)], at: Int64(number))
        }
        let rows = try Self.read(history, after: -1).rows
        #expect(rows.count == History.rowCount)
        #expect(rows.first == [10, 10])
        #expect(rows.last == [3_609, 3_609])
        #expect(try Self.read(history, after: 2).rows.count == History.rowCount)
    }
}
