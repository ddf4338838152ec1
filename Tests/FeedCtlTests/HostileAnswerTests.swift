import FeedClient
import FeedCtl
import FeedProto
import FeedTestSupport
import FeedText
import Foundation
import Testing

/// Answers with any numbers and texts: no report traps, and none controls a terminal.
///
/// `FEED_FUZZ_ROUNDS` makes a run longer: for each seed a round has some 20 answers.
@Suite(.timeLimit(.minutes(60))) struct HostileAnswerTests {
    private static let roundCount = TestEnvironment.number("FEED_FUZZ_ROUNDS") ?? 50

    /// Draws values of the wire, the ends of their ranges among them.
    private struct Draw {
        var state: UInt64

        mutating func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }

        mutating func number() -> UInt64 {
            let numbers: [UInt64] = [
                0, 1, 99, 1_000_001, 1 << 53, 1 << 63, (1 << 63) - 1, .max - 1, .max,
            ]
            return numbers[next(numbers.count)]
        }

        mutating func id<ID: Identifier>() -> ID { ID(rawValue: number()) }

        mutating func signed() -> Int64 { Int64(bitPattern: number()) }

        mutating func small() -> UInt32 { UInt32(truncatingIfNeeded: number()) }

        mutating func text() -> String {
            let texts = [
                "", "plain", "\u{1B}[31m\u{1B}]0;title\u{7}", "\u{9B}2J", "a\r\nb\tc\u{8}\u{7F}",
                "\u{202E}\u{2066}\u{200F}\u{61C}", "line\u{2028}\u{2029}\u{85}", "日本\u{301}👨‍👩‍👧",
            ]
            return texts[next(texts.count)]
        }

        mutating func post() -> Post {
            Post(
                id: id(),
                feed: text(),
                author: User(id: id(), displayName: text()),
                title: text(),
                text: text(),
                linkURL: text(),
                thumbnailURL: text(),
                imageURL: text(),
                score: signed(),
                upvoteCount: number(),
                downvoteCount: number(),
                commentCount: number(),
                createTimeMilliseconds: signed(),
                updateTimeMilliseconds: signed(),
                revision: number(),
                viewer: Viewer(vote: VoteDirection(rawValue: Int32(truncatingIfNeeded: signed())))
            )
        }

        mutating func page() -> Page {
            Page(
                posts: [post(), post()],
                firstRank: number(),
                totalSize: number(),
                newerCount: small(),
                consistency: Consistency(rawValue: Int32(truncatingIfNeeded: signed()))
            )
        }

        mutating func backups() -> BackupStats {
            BackupStats(
                isRunning: next(2) == 0,
                copiedByteCount: number(),
                byteCount: number(),
                lastName: text(),
                lastTimeMilliseconds: signed(),
                lastError: text(),
                lastErrorTimeMilliseconds: signed(),
                failureCount: number(),
                nextTimeMilliseconds: signed()
            )
        }

        mutating func latency() -> LatencyStats {
            LatencyStats(
                method: text(),
                answerCount: number(),
                medianNanoseconds: number(),
                p90Nanoseconds: number(),
                p99Nanoseconds: number(),
                p999Nanoseconds: number(),
                maximumNanoseconds: number()
            )
        }

        mutating func journal() -> JournalStats {
            var journal = StatsReportTests.journal
            journal.commitCount = number()
            journal.effectCount = number()
            journal.byteCount = number()
            journal.oldestHeldMicroseconds = number()
            return journal
        }
    }

    @Test(arguments: TestEnvironment.seeds(1...4))
    func noReportTrapsOrControlsATerminal(seed: UInt64) throws {
        var draw = Draw(state: seed)
        for _ in 0..<Self.roundCount {
            let list = PostList(consistency: draw.next(2) == 0 ? .stable : .live)
            let page = draw.page()
            let corrected = CorrectTimesResponse(
                posts: [
                    PostTimes(
                        id: draw.id(),
                        feed: draw.text(),
                        title: draw.text(),
                        createTimeMilliseconds: draw.signed(),
                        updateTimeMilliseconds: draw.signed()
                    )
                ],
                nextAfterID: draw.id(),
                serverTimeMilliseconds: draw.signed()
            )
            var times = FoundPostsReport(isApplied: draw.next(2) == 0)
            times.add(corrected)
            let backups = draw.backups()
            let failure = "\(BackupFailure.stillRunning(.seconds(1), backups))"
            try Self.check(VisibleText.line(failure))
            let session = UserSession(
                token: [],
                user: User(id: draw.id(), displayName: draw.text()),
                expireTimeMilliseconds: draw.signed()
            )
            let reports: [any Report] = [
                PostReport(draw.post()), PageReport([page], of: list, hasViewer: draw.next(2) == 0),
                PageReport([page], of: list, commandLine: nil, firstRow: 1),
                BackupStatsReport(backups), times, Sentence.session(session),
                Sentence.backup(BackupResponse(name: draw.text(), revision: draw.number())),
                StatsReportTests.stats(
                    draw.journal(),
                    backups,
                    latencies: [draw.latency(), draw.latency()],
                    heldTime: draw.latency()
                ),
                FeedsReport([Feed(name: draw.text(), postCount: draw.number())]),
            ]
            for report in reports { try Self.check(report, columns: draw.next(3)) }
        }
    }

    @Test(arguments: TestEnvironment.seeds(1...4))
    func noReportOfAMutatedAnswerTrapsOrControlsATerminal(seed: UInt64) throws {
        let answers = MutatedAnswers(seed: seed)
        var reportCount = 0
        for round in 0..<Self.roundCount {
            for response in Samples.responses {
                guard let answer = answers.next(response, to: 1)?.response else { continue }
                let reports = Self.reports(answer)
                for report in reports { try Self.check(report, columns: Int(round % 3)) }
                reportCount += reports.count
            }
            guard let status = answers.next(Samples.status, to: 1)?.status else { continue }
            try Self.check(VisibleText.line("\(FeedClientError.refused(status))"))
        }
        #expect(reportCount > Self.roundCount, "Most answers have a report; seed \(seed).")
    }

    private static func reports(_ answer: Response) -> [any Report] {
        switch answer {
        case .session(let session): [Sentence.session(session)]
        case .listSessions(let answer): [SessionsReport(answer.sessions)]
        case .passwordReset(let reset): [Sentence.passwordReset(reset)]
        case .post(let post): [PostReport(post)]
        case .batchGetPosts(let answer): answer.posts.map(PostReport.init)
        case .listPosts(let answer):
            [
                PageReport(
                    [
                        Page(
                            posts: answer.posts,
                            next: PageToken(bytes: answer.nextPageToken),
                            firstRank: answer.firstRank,
                            totalSize: answer.totalSize,
                            newerCount: answer.newerCount,
                            consistency: answer.consistency
                        )
                    ],
                    of: PostList(),
                    hasViewer: true
                )
            ]
        case .postRank(let place): [Sentence.rank(of: 1, place)]
        case .castVote(let counts): [Sentence.vote(counts)]
        case .markPosts(let answer): [MarkReport(feed: "posts", unreadCount: answer.unreadCount)]
        case .listFeeds(let answer): [FeedsReport(answer.feeds)]
        case .serverStats(let stats):
            [StatsReport(stats), BackupStatsReport(stats.backups)]
        case .backup(let backup): [Sentence.backup(backup)]
        case .correctTimes(let part):
            [found { $0.add(part) }]
        case .deletePosts(let part):
            [found { $0.add(part) }]
        case .clusterStatus(let status): reports(status)
        case .changeMembers(let answer): [AddedNodeReport(answer, name: "b", url: "https://b:1")]
        default: []
        }
    }

    private static func reports(_ status: ClusterStatus) -> [any Report] {
        var verified = VerifyReport()
        verified.record = status.record
        for member in status.members {
            var row = VerifyReport.Row(member)
            row.chain = status.chain
            verified.rows.append(row)
        }
        let ofMembers: [any Report] = status.members.flatMap { member -> [any Report] in
            [
                Sentence.removed(member, from: status),
                LeaderReport(member, term: status.term, wanted: status.members.first),
            ]
        }
        return [ClusterStatusReport(status), verified] + ofMembers
    }

    private static func found(_ add: (inout FoundPostsReport) -> Void) -> FoundPostsReport {
        var report = FoundPostsReport(isApplied: false)
        add(&report)
        return report
    }

    /// Checks what a report prints for people and for programs.
    private static func check(_ report: any Report, columns: Int) throws {
        try check(ReportTests.text(report, columns: [nil, 10, 80][columns]))
        let json = try report.json()
        try check(json)
        _ = try JSONSerialization.jsonObject(with: Data(json.utf8))
    }

    /// No scalar of a text but the line break does anything else than to be shown.
    private static func check(_ text: String) throws {
        let control = text.unicodeScalars.first { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar != "\n"
            case .lineSeparator, .paragraphSeparator: true
            case .format: scalar.properties.isBidiControl
            default: false
            }
        }
        let found = control.map { "U+" + String($0.value, radix: 16) }
        try #require(found == nil, "\(found ?? "") in \(text.debugDescription)")
    }

    @Test func aBackupOfAnySizeHasAShare() {
        for (copied, count) in [(UInt64.max, UInt64.max), (.max, 1), (1, .max), (.max - 1, .max)] {
            let text = BackupProgress(BackupStats(copiedByteCount: copied, byteCount: count)).text
            let percent = text.split(separator: " ").first.flatMap { Int($0) }
            #expect((0...100).contains(percent ?? -1), "\(text)")
        }
    }

    @Test("a report says whether what was asked is done")
    func aReportSaysWhetherItIsDone() {
        #expect(MarkReport(feed: "", unreadCount: 0).isDone)
        #expect(MarkReport(feed: "", unreadCount: 0, of: [1, 2], missing: [1]).isDone)
        #expect(!MarkReport(feed: "", unreadCount: 0, of: [1], missing: [1]).isDone)
    }
}
