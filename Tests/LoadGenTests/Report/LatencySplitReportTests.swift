import FeedProto
import Foundation
import LoadGen
import Testing

@Suite struct LatencySplitReportTests {
    /// A run of which a thousand calls were timed.
    private func sample(clockOffset: UInt64 = 0) throws -> RunReport {
        var result = try ReportTests().sample(["-c", "500", "-d", "3s", "--split"])
        var split = LatencySplit()
        for _ in 0..<1000 {
            let times = CallTimes(
                receivedNanoseconds: 1_020_000 + clockOffset,
                executedNanoseconds: 1_025_000 + clockOffset,
                releasedNanoseconds: 1_425_000 + clockOffset
            )
            split.add(times, sent: 1_000_000, answered: 1_455_000)
        }
        result.totals.split = split
        return result
    }

    private func read(_ result: RunReport) async throws -> RunReport {
        try await withReport(of: result) { path in
            try ReportDocument(reading: path).result(path: path)
        }
    }

    /// The object `latency_split_ms` of the JSON report; nil where it is null.
    private func splitMembers(_ result: RunReport) throws -> [String: Any]? {
        let data = Data(result.json.utf8)
        let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let found = try #require(root["latency_split_ms"])
        return found as? [String: Any]
    }

    /// The encoded histograms of the parts.
    private func histograms(_ result: RunReport) throws -> [String: String] {
        let members = try #require(try splitMembers(result))
        return members.compactMapValues { ($0 as? [String: Any])?["hdr"] as? String }
    }

    @Test func showsATableOfTheParts() throws {
        #expect(TextReport(try sample()).rendered().contains(Self.golden))
    }

    private static let golden = """
          vote                 2.03     2.00     2.00    ~2.00        -        -     30.0
        Split [ms]             mean      p50      p90      p99    p99.9   p99.99      max   (1,000 calls, one in 64)
          on the way there    0.020    0.020    0.020   ~0.020        -        -    0.020
          executing           0.005    0.005    0.005   ~0.005        -        -    0.005
          held                0.400    0.400    0.400   ~0.400        -        -    0.400   until durable
          on the way back     0.030    0.030    0.030   ~0.030        -        -    0.030

        CPU
        """

    @Test func showsBothWaysAsOneWhereTheClocksDiffer() throws {
        let text = TextReport(try sample(clockOffset: 1 << 40)).rendered()
        #expect(text.contains(Self.goldenOfTwoClocks))
    }

    private static let goldenOfTwoClocks = """
        Split [ms]             mean      p50      p90      p99    p99.9   p99.99      max   (1,000 calls, one in 64; the service has another clock)
          executing           0.005    0.005    0.005   ~0.005        -        -    0.005
          held                0.400    0.400    0.400   ~0.400        -        -    0.400   until durable
          both ways           0.050    0.050    0.050   ~0.050        -        -    0.050   there and back together

        CPU
        """

    @Test func showsNoTableWithoutTheFlag() throws {
        let result = try ReportTests().sample()
        #expect(!TextReport(result).rendered().contains("Split"))
        #expect(try splitMembers(result)?.count == nil)
    }

    @Test func saysThatNoCallWasTimed() throws {
        var result = try ReportTests().sample(["--split"])
        result.totals.split = LatencySplit()
        let text = TextReport(result).rendered()
        #expect(text.contains("--split: no measured call was answered"))
        let members = try #require(try splitMembers(result))
        #expect(members["sample_count"] as? Int == 0)
        #expect(members["both_ways"] is NSNull)
    }

    @Test func tellsEachPartInJSON() throws {
        let members = try #require(try splitMembers(sample()))
        #expect(members["sample_count"] as? Int == 1000)
        #expect(members["other_clock_count"] as? Int == 0)
        let parts = [
            ("there", 0.020), ("execution", 0.005), ("held", 0.4), ("back", 0.030),
            ("both_ways", 0.050),
        ]
        for (name, milliseconds) in parts {
            let part = try #require(members[name] as? [String: Any], "\(name)")
            for level in ["p50", "p90", "p99", "max", "mean"] {
                let value = try #require(part[level] as? Double, "\(name).\(level)")
                #expect(abs(value - milliseconds) < 0.01 * milliseconds + 0.000_064, "\(name)")
            }
            #expect(part["p999"] == nil, "One sample lies beyond.")
        }
    }

    @Test func tellsNoSingleWayInJSONWhereTheClocksDiffer() throws {
        let members = try #require(try splitMembers(sample(clockOffset: 1 << 40)))
        #expect(members["other_clock_count"] as? Int == 1000)
        #expect(members["there"] is NSNull && members["back"] is NSNull)
        #expect(members["both_ways"] is [String: Any])
    }

    @Test(arguments: [0, 1 << 40] as [UInt64])
    func readsWhatAReportHas(_ clockOffset: UInt64) async throws {
        let result = try sample(clockOffset: clockOffset)
        let read = try await read(result)
        #expect(TextReport(read).rendered() == TextReport(result).rendered())
        #expect(try histograms(read) == histograms(result))
        let merged = MergedRuns([read, read]).result
        #expect(merged.totals.split?.sampleCount == 2000)
        #expect(merged.totals.split?.otherClockCount == (clockOffset == 0 ? 0 : 2000))
    }

    @Test func refusesAHistogramThatIsNone() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let result = try sample()
        let held = try #require(try splitMembers(result)?["held"] as? [String: Any])
        let histogram = try #require(held["hdr"] as? String)
        try result.json.replacing(histogram, with: "HISTFAAA")
            .write(to: file, atomically: true, encoding: .utf8)
        let failure = #expect(throws: RunFailure.self) {
            try ReportDocument(reading: file.path()).result(path: file.path())
        }
        #expect(failure?.description.contains("hdr") == true)
    }

    /// A page of one run has the histograms, and a page of several has only the figures.
    @Test func hasTheSplitOnThePage() throws {
        let text = try sample().json
        let document = try #require(ReportDocument(parsing: text, name: "run"))
        for (copies, hasHistogram) in [(1, true), (2, false)] {
            let page = ReportPage(Array(repeating: document, count: copies)).rendered()
            let start = try #require(page.range(of: #""latency_split_ms":{"#)).upperBound
            let end = try #require(page[start...].range(of: #""there":{"#)).upperBound
            let rest = try #require(page[end...].range(of: "}")).lowerBound
            #expect(page[start..<rest].contains(#""hdr""#) == hasHistogram)
            #expect(page[start..<rest].contains(#""p50""#))
        }
    }
}
