import Foundation
import LoadGen
import Testing

/// Reports with numbers that no run has: each is an error that names the member, and none a trap.
@Suite struct ReportLimitsTests {
    /// A member, the number that its first place in the file gets, and how the error begins.
    static let wrong: [(key: String, number: String, cause: String)] = [
        (
            "warmup_seconds", "9223372036854775808",
            "config.warmup_seconds: expected 0 to 3600, got 9.223372036854776e+18."
        ),
        ("duration_seconds", "1e308", "config.duration_seconds: expected 0 to 86400, got 1e+308."),
        ("timeout_seconds", "-1", "config.timeout_seconds: expected 0 to 60, got -1."),
        (
            "pipeline", "-9223372036854775808",
            "config.pipeline: expected 1 to 1024, got -9223372036854775808."
        ),
        ("clients", "9223372036854775807", "config.clients: expected 1 to 10000000, got "),
        ("voters", "-1", "config.voters: expected 0 to 10000000, got -1."),
        ("first_bucket", "9223372036854775807", "intervals[0].response_ms: first_bucket "),
        ("first_bucket", "-1", "intervals[0].response_ms: first_bucket "),
        ("max", "1e308", "intervals[0].response_ms.max: expected 0 to 1000000000, got 1e+308."),
        ("end_seconds", "-1", "intervals[0].end_seconds: expected 0 to "),
        ("errors", "-1", "intervals[0].errors: expected 0 to 68719476736, got -1."),
        ("vote", "1e30", "intervals[0].vote: expected 0 to 68719476736, got 1e+30."),
        ("sent", "18446744073709551615", "outcomes.sent: expected 0 to 1125899906842624, got "),
        ("bytes_in", "18446744073709551615", "connections.bytes_in: expected 0 to "),
        ("opened", "-1", "connections.opened: expected 0 to "),
        ("votes_counted", "-9223372036854775808", "audit.votes_counted: expected -"),
        ("measured_seconds", "-1", "measured_seconds: expected 0 to "),
    ]

    /// The failure of reading a report in which a pattern was replaced once.
    private func failure(
        _ pattern: String,
        _ replacement: String,
        _ arguments: [String] = ["-c", "500", "-d", "3s"]
    ) throws -> (cause: String, isUsage: Bool)? {
        let report = try ReportTests().sample(arguments).json
        let text = report.replacing(try Regex(pattern), with: replacement, maxReplacements: 1)
        try #require(text != report, "\(pattern) is in the report")
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let failure = #expect(throws: RunFailure.self) {
            try ReportDocument(reading: file.path()).result(path: file.path())
        }
        guard case .badFile(let path, let cause)? = failure else { return nil }
        #expect(path == file.path())
        return (cause, failure?.exitStatus == .usage)
    }

    @Test(arguments: wrong)
    func namesTheMemberAndItsLimits(_ key: String, _ number: String, _ cause: String) throws {
        let found = try failure("\"\(key)\" : -?[0-9][0-9.e+]*", "\"\(key)\" : \(number)")
        #expect(found?.cause.hasPrefix(cause) == true, "\(found?.cause ?? "no cause")")
        #expect(found?.isUsage == true)
    }

    @Test func namesAPercentileThatIsNone() throws {
        let found = try failure(#"\b77\b"#, "1e308", ["--percentiles", "50,77"])
        #expect(found?.cause == "config.percentiles[1]: expected 0 to 100, got 1e+308.")
    }

    @Test func namesABucketWithANegativeCount() throws {
        let found = try failure(#""buckets" : \[\s*[0-9]+"#, #""buckets" : [ -1"#)
        #expect(found?.cause.hasPrefix("intervals[0].response_ms: ") == true)
    }

    /// The page of a comparison is made without a result, so its numbers are not looked at before.
    @Test func aPageSurvivesEveryNumber() throws {
        let latencies = [
            #"{"first_bucket":9223372036854775807,"buckets":[1]}"#,
            #"{"first_bucket":-1e308,"buckets":[1]}"#, #"{"first_bucket":3,"buckets":[-1,1e308]}"#,
        ]
        let intervals = (0..<600).map { number in
            #"{"end_seconds":1e308,"seconds":-1,"response_ms":\#(latencies[number % 3])}"#
        }
        let text = """
            {"schema":1,"config":{},"ab":{},"intervals":[\(intervals.joined(separator: ","))]}
            """
        let document = try #require(ReportDocument(parsing: text, name: "run"))
        #expect(document.isSideBySide)
        #expect(ReportPage([document]).rendered().contains(#"data-errors="0""#))
    }
}
