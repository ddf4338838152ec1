import FeedProto
import Foundation
import Histogram
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

@Suite struct HistogramEncodingTests {
    /// Latencies from below the scale to its end, drawn from `seed`.
    private func histogram(_ seed: UInt64) -> LatencyHistogram {
        var stream = RandomStream(seed: seed, thread: 0, client: 0)
        var histogram = LatencyScale.makeHistogram()
        for _ in 0..<500 {
            let value = UInt64(1) << UInt64(stream.nextIndex(below: 37))
            // The sum of all latencies stays below 2^64 ns, as Histogram adds them up.
            let count = UInt64(1) << UInt64(stream.nextIndex(below: 17))
            histogram.record(
                min(
                    value + UInt64(stream.nextIndex(below: Int(value))),
                    LatencyScale.highestNanoseconds
                ),
                count: count
            )
        }
        histogram.record(0)
        histogram.record(LatencyScale.highestNanoseconds)
        return histogram
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func readsWhatItWrote(_ seed: UInt64) throws {
        let whole = histogram(seed)
        let read = try #require(
            HistogramEncoding.histogram(base64: HistogramEncoding.base64(whole))
        )
        #expect(read.totalCount == whole.totalCount)
        let counts = whole.recordedValues().map { [$0.value, $0.count] }
        #expect(read.recordedValues().map { [$0.value, $0.count] } == counts)
        #expect(read.max == whole.max)
    }

    @Test func readsAnEmptyOne() throws {
        let empty = HistogramEncoding.base64(LatencyScale.makeHistogram())
        #expect(try #require(HistogramEncoding.histogram(base64: empty)).totalCount == 0)
    }

    @Test func refusesWhatIsCutOrChanged() throws {
        let bytes = HistogramEncoding.encoded(histogram(3))
        for length in 0..<40 { #expect(HistogramEncoding.decoded(Array(bytes[..<length])) == nil) }
        for place in 0..<32 where place < 4 || place > 7 {
            var changed = bytes
            changed[place] ^= 0x01
            #expect(HistogramEncoding.decoded(changed) == nil, "\(place)")
        }
        // A number without its end, a count of 0, and more empty buckets than there are.
        #expect(HistogramEncoding.decoded(Array(bytes[..<40]) + [0x80]) == nil)
        #expect(HistogramEncoding.decoded(Array(bytes[..<40]) + [0x00]) == nil)
        #expect(HistogramEncoding.decoded(Array(bytes[..<40]) + [0xFF, 0xFF, 0x7F, 0x02]) == nil)
        for text in ["", "HISTFAAA", "no base 64", "AAAA"] {
            #expect(HistogramEncoding.histogram(base64: text) == nil)
        }
    }

    /// Histogram adds the latencies up in 64 bits.
    @Test func refusesLatenciesWhoseSumIsTooLong() {
        for (count, isRead) in [(1 << 24, true), (1 << 25, false), (1 << 26, false)] {
            var histogram = LatencyScale.makeHistogram()
            histogram.record(LatencyScale.highestNanoseconds, count: UInt64(count))
            let bytes = HistogramEncoding.encoded(histogram)
            #expect((HistogramEncoding.decoded(bytes) != nil) == isRead, "\(count)")
        }
    }

    /// No bytes make a trap, whatever they are.
    @Test func survivesEveryCount() {
        var stream = RandomStream(seed: 9, thread: 0, client: 0)
        let head = Array(HistogramEncoding.encoded(LatencyScale.makeHistogram())[..<40])
        for _ in 0..<2_000 {
            let body = (0..<stream.nextIndex(below: 40)).map { _ in
                UInt8(truncatingIfNeeded: stream.next())
            }
            let read = HistogramEncoding.decoded(head + body)
            if let read { #expect(read.totalCount <= UInt64(Int64.max)) }
        }
    }
}

@Suite struct LatencySummaryTests {
    @Test func hasThePercentilesAndTheSpread() {
        var histogram = LatencyScale.makeHistogram()
        histogram.record(1 << 20, count: 990)
        histogram.record(1 << 24, count: 10)
        let summary = LatencySummary(histogram)
        #expect(summary.count == 1000)
        #expect(summary.percentiles[0] == histogram.valueAtPercentile(50))
        #expect(summary.percentiles[3] == histogram.valueAtPercentile(99.9))
        #expect(summary.maximum == histogram.max)
        #expect(summary.buckets.first == 80)
        #expect(summary.buckets.counts.count == 17)
        #expect(summary.buckets.counts[0] == 990)
        #expect(summary.buckets.counts[16] == 10)
    }

    @Test func addsSpreadsOnBothSides() {
        var sum = LatencyBuckets(first: 5, counts: [1, 2])
        sum.add(LatencyBuckets(first: 2, counts: [7, 0, 0, 10]))
        sum.add(LatencyBuckets(first: 9, counts: [4]))
        sum.add(LatencyBuckets())
        #expect(sum == LatencyBuckets(first: 2, counts: [7, 0, 0, 11, 2, 0, 0, 4]))
    }
}
