import FeedClient
import FeedImport
import FeedProto
import Foundation
import Histogram
import LoadGen
import Testing

/// The JSON documents and the page of fixed results, byte for byte as programs and browsers get them.
///
/// `FEED_WRITE_GOLDEN=1` writes the files of a document that was changed on purpose.
@Suite struct GoldenReportTests {
    /// A closed loop of which little was seen.
    private static func closed() throws -> RunReport {
        var result = try fixed(["-c", "500", "-d", "3s"])
        result.server = nil
        result.serverPID = nil
        result.loopIdleShares = [.nan]
        result.hottestShare = .infinity
        result.audit = .impossible("The connection ended.")
        return result
    }

    /// An open loop with every member that a run can have.
    private static func open() throws -> RunReport {
        var result = try fixed([
            "-R", "400k", "-c", "500", "-d", "3s", "--mix",
            "vote=60,create=10,list=10,page=10,get=10",
            "--slo", "p99<5ms", "--slo", "rate>=1", "--slo", "get.p50<1ms", "--keys", "hot:0.2:0.8",
            "--percentiles", "50,99.95,99.9,7", "--reconnect-every", "1000", "--split", "--strict",
            "--voters", "2000", "--retry", "3", "--run-id", "night",
        ])
        result.dataset = dataset
        result.machine = MachineUsage(busyShare: 0.875, stealShare: 0.0625)
        for index in result.intervals.indices {
            result.intervals[index].outcomes.sent = UInt64(index) * 300
            result.intervals[index].outcomes.error = UInt64(index / 2)
            result.intervals[index].outcomes.timeout = UInt64(index) * 2
            result.intervals[index].outcomes.lost = UInt64(index / 3)
            result.intervals[index].reconnectCount = UInt64(index * index)
            var usage = IntervalUsage()
            usage.server = index == 1 ? nil : 0.75
            usage.generator = 0.5
            usage.busy = 1.5
            usage.steal = 0.125
            result.intervals[index].usage = index == 3 ? nil : usage
        }
        result.totals.measuredAnswers = [1_200_000, 7, 5, 3, 2]
        result.totals.failures.countProtocolError("a frame of \"7\" bytes / 3")
        (result.totals.lateAnswerCount, result.totals.lateSendCount) = (3, 4)
        (result.totals.unsentCount, result.totals.reopenedCount) = (5, 6)
        result.totals.retries.retryCount = 11
        result.totals.retries.reconnectCount = 12
        result.totals.retries.duplicateCount = 13
        (result.totals.traffic.readCount, result.totals.traffic.writeCount) = (900, 800)
        result.totals.loopLate99 = 125_000
        var histogram = LatencyScale.makeHistogram()
        for number in 1...4_000 as ClosedRange<UInt64> { histogram.record(number * number * 1_000) }
        result.totals.latencies[LatencyKey(.get, .service)] = histogram
        result.totals.latencies[LatencyKey(.get, .response)] = histogram
        result.totals.split = split()
        result.serverTimes = ServerTimes(calls: [times("cast_vote", 1)], held: times("", 300))
        result.series = series(result)
        result.record = record
        result.cleanup = .failed(postCount: 1_234, cause: "The disk is full.")
        var figures = result.figures
        figures.response99s = [1.5, 1.25, 1.75, 1.5, 2, 1]
        result.comparison = Comparison(figures, with: figures, at: "before.json", limit: 0.03)
        var summary = AuditSummary()
        (summary.acknowledgedVoteCount, summary.countedVoteCount) = (1_197, -3)
        (summary.createdPostCount, summary.listedPostCount) = (4, 1_004)
        summary.findings.note(.lostVote, count: 3, "Post 7: 3 votes acknowledged, 0 counted.")
        result.audit = .done(summary)
        result.isInterrupted = true
        return result
    }

    /// A result like that of other tests, on a machine that is the same everywhere.
    private static func fixed(_ arguments: [String]) throws -> RunReport {
        var result = try ReportTests().sample(arguments)
        result.environment = environment
        if !arguments.contains("--run-id") { result.configuration.runID = "0123456789abcdef" }
        return result
    }

    private static var environment: Environment {
        var environment = Environment()
        environment.processor = "A Processor @ 2.00GHz"
        environment.coreCount = 2
        environment.kernel = "6.1.0-1"
        environment.command = "loadgen --title \"</script>\" \u{1} \\"
        environment.startTime = "2026-05-28T20:26:40Z"
        return environment
    }

    private static var dataset: DatasetResult {
        let leftOut = LeftOutPost(
            line: 7,
            field: "title",
            reason: "TEXT_TOO_LONG",
            actual: 301,
            limit: 300,
            message: "The title has 301 bytes."
        )
        var file = DatasetResult.File()
        (file.path, file.feed, file.postCount) = ("/data/books.csv", "books", 12)
        (file.upvoteCount, file.downvoteCount, file.leftOut) = (345, 67, [leftOut])
        return DatasetResult(files: [file], importSeconds: 1.25, repeatCount: 3)
    }

    private static var record: RunRecord {
        var record = RunRecord()
        (record.instanceID, record.feed) = (0xABCD, "loadgen")
        record.startMilliseconds = 1_780_000_000_250
        record.endMilliseconds = 1_780_000_005_250
        record.accounts = Tallied.scores.accounts(
            [7, 8, 11],
            [VoteTally(acknowledged: 3, scoreSum: 6, squareSum: 14), VoteTally(), VoteTally()]
        )
        record.feeds = [RunRecord.Feed(name: "books", ids: [21, 22])]
        record.accounts[2].unknownCount = 1
        record.createdIDs = [30]
        record.unknownTitles = ["a \"b\""]
        return record
    }

    private static func split() -> LatencySplit {
        var split = LatencySplit()
        for _ in 0..<1000 {
            let times = CallTimes(
                receivedNanoseconds: 1_020_000,
                executedNanoseconds: 1_025_000,
                releasedNanoseconds: 1_425_000
            )
            split.add(times, sent: 1_000_000, answered: 1_455_000)
        }
        return split
    }

    private static func times(_ method: String, _ factor: UInt64) -> LatencyStats {
        LatencyStats(
            method: method,
            answerCount: 1000,
            medianNanoseconds: 4_000 * factor,
            p90Nanoseconds: 5_000 * factor,
            p99Nanoseconds: 12_000 * factor,
            p999Nanoseconds: 50_000 * factor,
            maximumNanoseconds: 90_000 * factor
        )
    }

    private static func series(_ result: RunReport) -> SeriesResult {
        var idle = result
        idle.totals.latencies = [:]
        var series = SeriesResult(kind: .runs)
        series.entries = [
            SeriesResult.Entry(result, phase: "run"),
            SeriesResult.Entry(idle, phase: "run", outcome: "failed", reasons: ["It was idle."]),
        ]
        return series
    }

    private static func search() throws -> RunReport {
        var result = try closed()
        var series = SeriesResult(kind: .search, goal: "p99<5ms")
        series.entries = [SeriesResult.Entry(result, phase: "climb", outcome: "passed")]
        series.capacity = 40_000
        series.isBusy = true
        result.series = series
        result.audit = .skipped
        result.cleanup = .done(postCount: 5)
        return result
    }

    private static func sideBySide() throws -> SideBySideResult {
        var result = SideBySideResult(
            try configure(["-R", "5k"]),
            SideBySideConfiguration(target: "127.0.0.1:1", wireProtocol: .resp),
            environment: environment
        )
        func slice(_ number: Int, _ factor: Double) -> Slice {
            var slice = Slice()
            slice.perSecond = 100_000 + Double(number) * 64
            slice.serverCost = factor * (2 + Double(number) / 128)
            slice.generatorCost = number == 3 ? nil : 1.5
            slice.response99 = 1e6 * factor
            slice.bytesPerOperation = 44.5
            slice.writesPerOperation = 0.25
            slice.foreignShare = number == 5 ? 0.5 : 0.015625
            return slice
        }
        for number in 0..<12 {
            let order: PairPlan.Pair = number < 3 ? .control : number < 8 ? .firstA : .firstB
            let factor = order == .control ? 1 : 2.0
            result.pairs.append(SlicePair(order, a: slice(number, 1), b: slice(number, factor)))
        }
        (result.repeatedCount, result.keptTaintedCount) = (2, 1)
        result.audits = (.done(AuditSummary()), .skipped)
        return result
    }

    @Test func writesTheDocumentOfARun() throws {
        try compare(Self.closed().json, "closed.json")
        try compare(Self.open().json, "open.json")
        try compare(Self.search().json, "search.json")
    }

    @Test func writesTheDocumentOfTwoServices() throws {
        try compare(Self.sideBySide().json, "ab.json")
    }

    /// What is not read is what the text report does not show again.
    @Test func readsTheDocumentOfARunAgain() throws {
        let path = Self.url("open.json").path()
        let result = try ReportDocument(reading: path).result(path: path)
        try compare(result.json, "again.json")
    }

    @Test func writesThePageOfRuns() throws {
        let open = try Self.open().json
        var long = try Self.open()
        var idle = long.intervals[0]
        (idle.latencies, idle.usage) = (LatencySummary(), nil)
        long.intervals += Array(repeating: idle, count: 240)
        for (name, texts) in [
            ("open.html", [open]), ("long.html", [long.json]),
            ("two.html", [open, try Self.closed().json]),
            ("ab.html", [try Self.sideBySide().json]),
        ] {
            let documents = try texts.enumerated().map { place, text in
                try #require(ReportDocument(parsing: text, name: "run \(place)"))
            }
            try compare(Self.withoutPrograms(ReportPage(documents).rendered()), name)
        }
    }

    @Test("docs/LOADGEN.md has each member of the documents")
    func thePageNamesEachMember() throws {
        let page = try String(contentsOf: Self.url("../../../docs/LOADGEN.md"), encoding: .utf8)
        let words = Set(page.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "-" })
        for file in ["open.json", "closed.json", "search.json", "ab.json"] {
            let data = try Data(contentsOf: Self.url(file))
            for name in Self.members(of: try JSONSerialization.jsonObject(with: data)) {
                let flag = "--" + name.replacing("_seconds", with: "").replacing("_", with: "-")
                let isNamed = words.contains(Substring(name)) || words.contains(Substring(flag))
                #expect(isNamed, "\(file): \(name)")
            }
        }
    }

    /// The names of a document's members, without those that a run gives: percentiles,
    /// reasons, causes and calls.
    private static func members(of document: Any) -> Set<String> {
        if let elements = document as? [Any] { return Set(elements.flatMap(members)) }
        guard let object = document as? [String: Any] else { return [] }
        return object.reduce(into: []) { names, member in
            guard member.key.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil,
                member.key.wholeMatch(of: /p[0-9]+(_ms)?/) == nil
            else { return }
            names.insert(member.key)
            if !["causes", "violations", "calls"].contains(member.key) {
                names.formUnion(members(of: member.value))
            }
        }
    }

    /// A page without its style and its script, which are files of their own, and with a member a line.
    private static func withoutPrograms(_ page: String) -> String {
        page.replacing(/<style>[^<]*<\/style>/, with: "<style></style>")
            .replacing(/<script>.*<\/script>/.dotMatchesNewlines(), with: "<script></script>")
            .replacing(",\"", with: ",\n\"")
    }

    /// Compares `text` with a golden file, apart from the compression of histograms, which is zlib's, and
    /// from how the tests were built.
    private func compare(_ text: String, _ name: String) throws {
        if ProcessInfo.processInfo.environment["FEED_WRITE_GOLDEN"] != nil {
            try text.write(to: Self.url(name), atomically: true, encoding: .utf8)
        }
        let golden = try String(contentsOf: Self.url(name), encoding: .utf8)
        let (found, expected) = (Self.lines(text), Self.lines(golden))
        let place = zip(found, expected).prefix { $0 == $1 }.count
        #expect(
            found == expected,
            "\(name), line \(place + 1): \(found.dropFirst(place).first ?? "missing")"
        )
    }

    private static func lines(_ text: String) -> [Substring] {
        text.replacing(/"HISTFAAA[^"]*"/, with: #""HISTFAAA""#)
            .replacing(/"debug_build" ?: ?true/) { $0.output.replacing("true", with: "false") }
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    private static func url(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Golden/\(name)")
    }
}
