import FeedClient
import FeedCtl
import FeedImport
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// What the reports print, byte for byte: scripts read it, and the JSON is a contract.
struct GoldenReportTests {
    private static let file = Programs.projectFolder
        .appending(path: "Tests/FeedCtlTests/Golden/reports.txt")

    @Test func everyReportIsAsItWas() throws {
        var printed = ""
        for (name, report) in Self.reports {
            printed += "==== \(name)\n\(ReportTests.text(report))---- JSON\n\(try report.json())"
        }
        let golden = String(decoding: try Data(contentsOf: Self.file), as: UTF8.self)
        let lines = printed.split(separator: "\n", omittingEmptySubsequences: false)
        for (line, expected) in zip(
            lines,
            golden.split(separator: "\n", omittingEmptySubsequences: false)
        ) { try #require(line == expected) }
        #expect(printed == golden)
    }

    private static let sessions = [
        SessionInfo(
            id: 0xA1,
            useTimeMilliseconds: ReportTests.now - 86_400_000,
            expireTimeMilliseconds: ReportTests.now + 2_505_600_000,
            isCurrent: true
        ),
        SessionInfo(
            id: SessionID(rawValue: 1 << 63),
            useTimeMilliseconds: ReportTests.now,
            expireTimeMilliseconds: ReportTests.now + 2_592_000_000,
            isCurrent: false
        ),
    ]

    private static var reports: [(String, any Report)] {
        let part = PageToken(bytes: [0xFB, 0xFF])
        var page = Page(posts: [Samples.post, ReportTests.post], firstRank: 3, totalSize: 25)
        page.next = part
        page.previous = part
        page.refresh = part
        page.newerCount = 2
        page.consistency = .stable
        let user = User(id: 9, displayName: "Ada")
        let vote = Request.castVote(Samples.votes[0])
        let entry = OutboxEntry(
            number: 3,
            request: vote,
            state: .failed(Samples.status),
            sequence: 0,
            userID: 6
        )
        return [
            ("post", PostReport(Samples.post)), ("empty post", PostReport(Post())),
            ("page", PageReport([page], hasViewer: true)),
            ("numbered page", PageReport([page], commandLine: nil, firstRow: 21)),
            ("feeds", FeedsReport([Samples.feed, Feed(name: "polls", unreadCount: 3)])),
            ("stats", StatsReport(stats)), ("bare stats", StatsReportTests.stats(nil)),
            ("backups", BackupStatsReport(Samples.backups)),
            ("backup", Sentence.backup(BackupResponse(name: "20270115T080000Z", revision: .max))),
            ("times", found(isApplied: false) { $0.add(times) }),
            ("corrected times", found(isApplied: true) { $0.add(times) }),
            (
                "no times",
                found(isApplied: false) {
                    $0.add(
                        CorrectTimesResponse(posts: [], nextAfterID: 0, serverTimeMilliseconds: 0)
                    )
                }
            ),
            ("posts", found(isApplied: false) { $0.add(posts) }),
            ("deleted posts", found(isApplied: true) { $0.add(posts) }),
            (
                "no posts",
                found(isApplied: true) {
                    $0.add(
                        DeletePostsResponse(
                            posts: [],
                            nextAfterID: 0,
                            originsSinceTimeMilliseconds: 1
                        )
                    )
                }
            ),
            (
                "session",
                Sentence.session(UserSession(token: [1], user: user, expireTimeMilliseconds: 5))
            ),
            ("no session", Sentence.signedOut(everywhere: false)),
            ("sessions", SessionsReport(Self.sessions)),
            ("end of session", Sentence.endOfSession(0xA1)),
            ("email", Sentence.emailChanged(to: "ada@example.org")),
            ("deleted account", Sentence.accountDeleted(keepsPosts: true)),
            ("suspended", Sentence.userChange("account 9", .suspend)),
            ("deleted user", Sentence.userChange("account 9", .deleteKeepingPosts)),
            (
                "password reset",
                Sentence.passwordReset(
                    PasswordReset(token: [1, 0xFE], user: user, expireTimeMilliseconds: 5)
                )
            ),
            ("vote", Sentence.vote(Samples.voted)),
            ("rank", Sentence.rank(of: 7, PostRank(rank: 3, totalSize: 25))),
            ("marks", MarkReport(feed: "posts", unreadCount: 4)),
            ("named marks", MarkReport(feed: "", unreadCount: 4, of: [7, 9], missing: [9])),
            ("deletion", Sentence.deletion(of: 7)), ("drain", Sentence.drain),
            ("log level", Sentence.logLevel("debug")),
            (
                "ping",
                Sentence.ping(
                    HelloResponse(
                        serverName: "feed-service",
                        instanceID: 1,
                        serverTimeMilliseconds: 2,
                        limits: nil
                    ),
                    PingResponse(payload: [], serving: .draining),
                    roundTrip: .microseconds(1_234)
                )
            ),
            ("outbox", OutboxReport([entry], for: 5)), ("queued", Sentence.queued(entry)),
            ("sync", SyncedReport(sync)),
            (
                "import",
                ImportReport(
                    feed: "books",
                    importedCount: 2,
                    leftOut: [
                        LeftOutPost(
                            line: 9,
                            field: "title",
                            reason: "TITLE_TOO_LONG",
                            actual: 300,
                            limit: 255,
                            message: "The title is too long."
                        )
                    ]
                )
            ),
        ]
    }

    /// Each counter has a number of its own.
    private static var stats: ServerStats {
        let samples = Samples.responses.compactMap { response in
            if case .serverStats(let stats) = response { stats } else { nil as ServerStats? }
        }
        var stats = samples[0]
        stats.channelByteCount = 27
        stats.refusedChannelCount = 28
        stats.refusedDeviceCount = 29
        stats.overBudgetCloseCount = 30
        stats.postLimitByteCount = 31
        stats.refusedPostCount = 32
        return stats
    }

    private static let times = CorrectTimesResponse(
        posts: [
            PostTimes(
                id: 7,
                feed: "posts",
                title: "Apple",
                createTimeMilliseconds: ReportTests.now + 600_000,
                updateTimeMilliseconds: ReportTests.now + 700_000
            ), PostTimes(id: 8),
        ],
        nextAfterID: 0,
        serverTimeMilliseconds: 0
    )

    private static let posts = DeletePostsResponse(
        posts: [
            PostOrigin(
                id: 7,
                feed: "posts",
                title: "Apple",
                createTimeMilliseconds: ReportTests.now - 600_000,
                authorID: 5,
                clientID: [0, 255, 16],
                host: "10.0.0.7"
            ), PostOrigin(id: 8),
        ],
        nextAfterID: 0,
        originsSinceTimeMilliseconds: ReportTests.now - 900_000
    )

    private static var sync: SyncReport {
        var sync = SyncReport()
        sync.sentCount = 1
        sync.leftCount = 2
        sync.otherUserCount = 3
        sync.failedCount = 4
        sync.inDoubtCount = 5
        sync.changedPostCount = 6
        sync.removedPostCount = 7
        sync.isReset = true
        return sync
    }

    private static func found(
        isApplied: Bool,
        _ add: (inout FoundPostsReport) -> Void
    ) -> FoundPostsReport {
        var report = FoundPostsReport(isApplied: isApplied)
        add(&report)
        return report
    }
}
