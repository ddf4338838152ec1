import FeedClient
import Foundation
import Histogram
import LoadGen
import Testing

@Suite struct ReportPageTests {
    /// Writes the JSON report of `result` and reads it again.
    private func read(_ result: RunReport) throws -> RunReport {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try result.json.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        return try ReportDocument(reading: file.path()).result(path: file.path())
    }

    private func document(_ result: RunReport) throws -> ReportDocument {
        try #require(ReportDocument(parsing: result.json, name: "run"))
    }

    @Test(arguments: [
        ["-c", "500", "-d", "3s"],
        ["-R", "400k", "-c", "500", "-d", "3s", "--slo", "p99<5ms", "--strict"],
        ["--mix", "vote=60,page=40", "--keys", "hot:0.2:0.8", "--percentiles", "50,99.95"],
    ])
    func showsTheSameTextAgain(_ arguments: [String]) throws {
        let result = try ReportTests().sample(arguments)
        #expect(try TextReport(read(result)).rendered() == TextReport(result).rendered())
        #expect(try read(result).json == result.json)
    }

    /// Ends of lives that are not read again would be lost connections in the verdict.
    @Test func readsHowOftenConnectionsWereReopened() throws {
        var result = try ReportTests().sample(["-c", "500", "-d", "3s", "--reconnect-every", "9"])
        (result.totals.retries.reconnectCount, result.totals.reopenedCount) = (4, 4)
        let again = try read(result)
        #expect(again.totals.reopenedCount == 4)
        #expect(TextReport(again).rendered() == TextReport(result).rendered())
    }

    @Test func readsHowOftenVotesOfFilesWereCast() throws {
        var result = try ReportTests().sample()
        result.dataset = DatasetResult(files: [], importSeconds: 1, repeatCount: 3)
        #expect(try read(result).dataset?.repeatCount == 3)
        #expect(try TextReport(read(result)).rendered().contains("(the files' × 3)"))
    }

    @Test func readsAnAuditThatFoundSomething() throws {
        var result = try ReportTests().sample()
        var summary = AuditSummary()
        summary.findings.note(.lostVote, count: 3, "Post 7: 3 votes acknowledged, 0 counted.")
        result.audit = .done(summary)
        #expect(try read(result).audit == result.audit)
        result.audit = .impossible("No service.")
        #expect(try read(result).audit == result.audit)
        result.audit = .skipped
        #expect(try read(result).audit == .skipped)
    }

    @Test func addsHistogramsOfGenerators() throws {
        var one = try ReportTests().sample(["-R", "400k", "-c", "500", "-d", "3s"])
        one.configuration.runID = "night"
        var two = one
        for measure in Measure.allCases {
            var other = LatencyScale.makeHistogram()
            other.record(90_000_000, count: 3_000)
            two.totals.latencies[LatencyKey(.vote, measure)] = other
        }
        two.intervals.append(two.intervals[4])
        let merged = MergedRuns([try read(one), try read(two)]).result
        let latencies = try #require(merged.totals.merged(.response))
        #expect(latencies.totalCount == 4_000)
        // A mean of the two medians would be 46 ms.
        #expect(latencies.valuesAreEquivalent(latencies.valueAtPercentile(50), 90_000_000))
        #expect(latencies.valuesAreEquivalent(latencies.valueAtPercentile(20), 2_000_000))
        #expect(merged.measuredAnswerCount == 2 * one.measuredAnswerCount)
        #expect(merged.totals.outcomes.sent == 2 * one.totals.outcomes.sent)
        #expect(merged.totals.outcomes.isConserved)
        #expect(merged.configuration.ratePerSecond == 800_000)
        #expect(merged.intervals.count == 6)
        #expect(merged.intervals[2].answered[0] == 2 * one.intervals[2].answered[0])
        #expect(merged.intervals[5].answered == one.intervals[4].answered)
        #expect(merged.audit.summary?.postCount == 2 * (one.audit.summary?.postCount ?? 0))
    }

    @Test func namesTheFileThatIsNoReport() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(throws: RunFailure.self) { try ReportDocument(reading: file.path()) }
        for text in ["", "{}", "[1]", #"{"schema":2,"config":{}}"#] {
            try text.write(to: file, atomically: true, encoding: .utf8)
            let failure = #expect(throws: RunFailure.self) {
                try ReportDocument(reading: file.path())
            }
            #expect(failure?.exitStatus == .usage)
            #expect(failure?.description.hasPrefix(file.path() + ": ") == true)
        }
        try #"{"schema":1,"config":{}}"#.write(to: file, atomically: true, encoding: .utf8)
        let failure = #expect(throws: RunFailure.self) {
            try ReportDocument(reading: file.path()).result(path: file.path())
        }
        #expect(failure?.description.contains("config.target") == true)
    }

    @Test func staysSmallInALongRun() throws {
        var result = try ReportTests().sample(["--mix", "vote=60,create=10,list=10,page=10,get=10"])
        var spread = LatencyScale.makeHistogram()
        for number in 1...4_000 as ClosedRange<UInt64> { spread.record(number * number * 1_000) }
        for operation in Operation.allCases {
            result.totals.latencies[LatencyKey(operation, .service)] = spread
        }
        let counts = IntervalCounts(answered: [7, 5, 3, 2, 1], latencies: spread)
        result.intervals = (1...3_600).map {
            RunReport.Interval(endSeconds: Double($0), seconds: 1, isMeasured: true, counts: counts)
        }
        for copies in [1, 6] {
            let document = try document(result)
            let page = ReportPage(Array(repeating: document, count: copies)).rendered()
            #expect(page.utf8.count < 300_000)
            #expect(page.contains(#"data-errors="0""#))
        }
    }

    /// A member that the page does not know how to join would be absent; a sum of it might be wrong.
    @Test func joinsEveryMemberOfIntervalsAndAddsNoOther() throws {
        var result = try ReportTests().sample(["--mix", "vote=60,create=10,list=10,page=10,get=10"])
        result.intervals = Array(repeating: result.intervals[0], count: 600)
        let text = result.json
        let withPeaks = text.replacing(#""measured""#, with: #""peak" : 7, "measured""#)
        try #require(withPeaks != text)
        let written = try membersOfFirstInterval(Data(text.utf8))
        #expect(written.contains("cpu") && written.contains("reconnects"))
        for text in [text, withPeaks] {
            let document = try #require(ReportDocument(parsing: text, name: "run"))
            let data = try JSONEncoder().encode(document.data(runCount: 1))
            #expect(try membersOfFirstInterval(data) == written)
        }
    }

    private func membersOfFirstInterval(_ json: Data) throws -> Set<String> {
        let root = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        let intervals = try #require(root["intervals"] as? [[String: Any]])
        return Set(intervals[0].keys)
    }

    /// The data cannot end its element, whatever a command line has.
    @Test func keepsItsDataInItsElement() throws {
        var result = try ReportTests().sample()
        result.environment.command = "loadgen </script><script>alert(1)</script> <!--"
        let page = ReportPage([try document(result)]).rendered()
        #expect(page.components(separatedBy: "</script>").count == 3)
        #expect(!page.contains("<!--"))
    }

    @Test func listsRunsInRows() throws {
        let result = try ReportTests().sample()
        let lines = RunTable([("befo😀e", result), ("after", result)]).rendered()
            .split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1].hasPrefix("befo😀e   not comparable"))
        #expect(Set(lines.map(\.count)).count == 1)
    }
}

@Suite struct LatencyModesTests {
    @Test func findsTwoPeaksWithAValleyBetween() {
        var counts = [UInt64](repeating: 0, count: 60)
        for offset in -4...4 {
            counts[15 + offset] = UInt64(1_000 - 200 * abs(offset))
            counts[40 + offset] = UInt64(250 - 50 * abs(offset))
        }
        let modes = LatencyModes(counts).modes
        #expect(modes.map(\.bucket) == [15, 40])
        #expect(abs((modes.first?.share ?? 0) - 0.8) < 0.01)
    }

    @Test func takesNoiseForNoMode() {
        var stream = RandomStream(seed: 5, thread: 0, client: 0)
        let counts = (0..<80).map { place -> UInt64 in
            let height = 10_000 * max(0, 1 - abs(Double(place) - 40) / 30)
            return UInt64(height * (0.85 + 0.3 * stream.nextUnit()))
        }
        #expect(LatencyModes(counts).modes.count == 1)
    }

    @Test func leavesOutWhatFewRequestsHave() {
        var counts = [UInt64](repeating: 0, count: 60)
        counts[10] = 10_000
        counts[50] = 100
        #expect(LatencyModes(counts).modes.map(\.bucket) == [10])
        #expect(LatencyModes([]).modes == [])
    }
}
