import FeedClient
import FeedCtl
import FeedProto
import FeedText
import Foundation
import Testing

/// What each command prints for people, and its shape for programs.
struct ReportTests {
    static let now: Int64 = 1_800_000_000_000

    static let post = Post(
        id: 7,
        feed: "posts",
        author: User(displayName: "Ada"),
        title: "Apple\u{1B}[31m",
        text: "one\ntwo\u{202E}",
        linkURL: "http://a/b",
        score: -2,
        upvoteCount: 1,
        downvoteCount: 3,
        commentCount: 4,
        createTimeMilliseconds: now - 3 * 3_600_000,
        updateTimeMilliseconds: now - 60_000,
        revision: 9,
        viewer: Viewer(vote: .down)
    )

    static let page = Page(
        posts: [post],
        next: PageToken(bytes: [0xFB, 0xFF]),
        firstRank: 3,
        totalSize: 25
    )

    static func text(_ report: any Report, columns: Int? = nil) -> String {
        report.text(TextStyle(nowMilliseconds: now, columnCount: columns))
    }

    static func object(_ report: any Report) throws -> [String: Any] {
        let data = Data(try report.json().utf8)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test func printsWhateverTheServiceSaysTheRankIs() {
        let page = Page(posts: [Self.post, Self.post], firstRank: .max, totalSize: .max)
        let lines = Self.text(PageReport([page])).split(separator: "\n")
        #expect(lines[1].hasPrefix("18446744073709551615 "))
        #expect(lines[2].hasPrefix("                   0 "))
    }

    @Test func aPostIsAListOfFieldsAndItsText() {
        #expect(
            Self.text(PostReport(Self.post)) == """
                id         7
                feed       posts
                title      Apple\\u{1B}[31m
                author     Ada
                link       http://a/b
                score      -2 (1 up, 3 down)
                your vote  down
                comments   4
                created    3 hours ago (2027-01-15T05:00:00Z)
                edited     1 minute ago (2027-01-15T07:59:00Z)
                revision   9

                    one
                    two\\u{202E}

                """
        )
    }

    @Test func aPostHasAllItsFieldsForPrograms() throws {
        let object = try Self.object(PostReport(Self.post))
        #expect(
            object.keys.sorted() == [
                "author", "author_id", "comment_count", "create_time_ms", "downvote_count", "feed",
                "id", "image_url", "is_dismissed", "is_read", "link_url", "revision", "score",
                "text", "thumbnail_url", "title", "update_time_ms", "upvote_count", "vote",
            ]
        )
        #expect(object["title"] as? String == Self.post.title)
        #expect(object["text"] as? String == Self.post.text)
        #expect(object["score"] as? Int == -2)
        #expect(object["vote"] as? String == "down")
        let empty = try Self.object(PostReport(Post()))
        #expect(empty.keys.sorted() == object.keys.sorted())
    }

    @Test func programsGetWholeTextsAndATerminalStaysAsItIs() throws {
        let title =
            String(repeating: "日", count: 300)
            + "\u{1B}[2J\u{9B}\u{202E}\u{2028}\u{7F}\u{E0041}\"\\"
        let report = PostReport(Post(title: title))
        #expect(try Self.object(report)["title"] as? String == title)
        let hidden = try report.json().unicodeScalars.filter { scalar in
            scalar != "\n" && VisibleText.line(String(scalar)) != String(scalar)
        }
        #expect(hidden.isEmpty)
    }

    @Test func aTimeOutOfAnyCalendarIsPrintedAllTheSame() {
        let text = Self.text(PostReport(Post(createTimeMilliseconds: .max)))
        #expect(text.contains("created"))
    }

    @Test func aPageIsATable() {
        let report = PageReport([Self.page])
        #expect(
            Self.text(report) == """
                RANK  SCORE  COMMENTS  AGE          AUTHOR  ID  TITLE
                   3     -2         4  3 hours ago  Ada      7  Apple\\u{1B}[31m

                1 of 25 posts.
                After:  --page-token -_8

                """
        )
    }

    @Test func aPageOverSeveralFeedsNamesThem() {
        let other = Post(id: 8, feed: "tweets", title: "Pear")
        let report = PageReport([Page(posts: [Self.post, other], firstRank: 1, totalSize: 2)])
        #expect(Self.text(report).contains("FEED"))
        #expect(Self.text(report).contains("tweets"))
    }

    @Test func aPageFitsTheTerminal() {
        let long = Post(
            id: 8,
            author: User(displayName: String(repeating: "n", count: 50)),
            title: String(repeating: "日", count: 200)
        )
        let report = PageReport([Page(posts: [long], firstRank: 1, totalSize: 1)])
        let lines = Self.text(report, columns: 80).split(separator: "\n")
        #expect(lines.allSatisfy { String($0).columnCount <= 80 })
        #expect(lines[1].hasSuffix("…"))
    }

    @Test func aPageHasAllItsFieldsForPrograms() throws {
        let report = PageReport([Self.page])
        let object = try Self.object(report)
        #expect(
            object.keys.sorted() == [
                "consistency", "first_rank", "newer_count", "next_page_token", "posts",
                "previous_page_token", "refresh_token", "total_size",
            ]
        )
        #expect(object["next_page_token"] as? String == "-_8")
        #expect(object["previous_page_token"] as? String == "")
    }

    @Test func aTokenSurvivesTheCommandLine() {
        for count in 1...40 {
            let token = PageToken(bytes: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 251) })
            #expect(token.map(\.text).flatMap(PageToken.init(text:)) == token)
        }
        #expect(PageToken(text: "!") == nil)
        #expect(PageToken(text: "") == nil)
    }

    @Test func aVoteIsALine() throws {
        let counts = CastVoteResponse(
            postID: 7,
            score: -1,
            upvoteCount: 2,
            downvoteCount: 3,
            vote: .up
        )
        let report = Sentence.vote(counts)
        #expect(Self.text(report) == "Post 7: score -1 (2 up, 3 down), your vote is up.\n")
        #expect(
            try Self.object(report).keys.sorted() == [
                "downvote_count", "post_id", "score", "upvote_count", "vote",
            ]
        )
    }

    @Test func aDeletionIsALine() throws {
        #expect(Self.text(Sentence.deletion(of: 7)) == "Post 7 is deleted.\n")
        #expect(try Self.object(Sentence.deletion(of: 7))["deleted_id"] as? Int == 7)
    }

    @Test func aBackupIsALine() throws {
        let report = Sentence.backup(BackupResponse(name: "20270115T080000Z", revision: 9))
        #expect(Self.text(report) == "Backup 20270115T080000Z holds revision 9.\n")
        #expect(try Self.object(report).keys.sorted() == ["name", "revision"])
    }

    @Test func feedsAreATable() throws {
        let report = FeedsReport([
            Feed(
                name: "posts",
                defaultOrder: .top,
                voteMode: .tally,
                maximumTitleLength: 255,
                maximumTextLength: 10_000,
                postCount: 3
            )
        ])
        #expect(
            Self.text(report) == """
                FEED   POSTS  ORDER  VOTES   TITLE  TEXT
                posts      3  top    tally  to 255  0 to 10000

                """
        )
        let feed = try #require((try Self.object(report)["feeds"] as? [[String: Any]])?.first)
        #expect(
            feed.keys.sorted() == [
                "default_order", "max_text_length", "max_title_length", "min_text_length", "name",
                "post_count", "unread_count", "vote_mode", "voters",
            ]
        )
    }
}

struct BackupReportTests {
    @Test func progressIsAShareOfTheBytes() {
        #expect(
            BackupProgress(BackupStats(copiedByteCount: 420, byteCount: 1000)).text
                == "42 % of 1 MB"
        )
        #expect(BackupProgress(BackupStats(isRunning: true)).text.hasPrefix("waiting"))
    }

    @Test("a command that gives up says whether the service continues the backup")
    func saysWhetherTheBackupContinues() {
        let running = BackupStats(isRunning: true, copiedByteCount: 500, byteCount: 1000)
        let text = "\(BackupFailure.stillRunning(.seconds(5), running))"
        #expect(text.contains("within 5.0 seconds"))
        #expect(text.contains("continues the backup (50 % of 1 MB)"))
        #expect(text.contains("feedctl stats"))
        let failed = BackupStats(lastError: "The disk is full.")
        #expect("\(BackupFailure.stillRunning(.seconds(5), failed))".hasSuffix("The disk is full."))
        let done = BackupStats(lastName: "20270115T080000123Z")
        #expect(
            "\(BackupFailure.stillRunning(.seconds(5), done))".hasSuffix("20270115T080000123Z.")
        )
        #expect("\(BackupFailure.stillRunning(.seconds(5), nil))".contains("may continue"))
    }

    @Test func statsShowTheLastAndTheRunningBackup() throws {
        let backups = BackupStats(
            isRunning: true,
            copiedByteCount: 1_000_000,
            byteCount: 4_000_000,
            lastName: "20270115T080000123Z",
            lastTimeMilliseconds: ReportTests.now - 7_200_000,
            lastError: "The disk is full.",
            lastErrorTimeMilliseconds: ReportTests.now - 60_000,
            failureCount: 2,
            scheduleIntervalMilliseconds: 3_600_000,
            nextTimeMilliseconds: ReportTests.now + 60_000
        )
        let text = ReportTests.text(StatsReportTests.stats(StatsReportTests.journal, backups))
        #expect(text.contains("last backup       20270115T080000123Z, "))
        #expect(text.contains("backup under way  25 % of 4 MB"))
        #expect(text.contains("The disk is full."))
        #expect(text.contains("next backup "))
        #expect(text.contains("failed backups    2"))
        let object = try ReportTests.object(
            StatsReportTests.stats(StatsReportTests.journal, backups)
        )
        let shown = try #require(object["backups"] as? [String: Any])
        #expect(shown["last_name"] as? String == "20270115T080000123Z")
        #expect(shown["is_running"] as? Bool == true)
        #expect(shown["failure_count"] as? Int == 2)
        #expect(shown["schedule_interval_ms"] as? Int == 3_600_000)
        let none = StatsReportTests.stats(StatsReportTests.journal, BackupStats())
        #expect(ReportTests.text(none).contains("last backup       none"))
        let untold = ReportTests.text(StatsReportTests.stats(StatsReportTests.journal))
        #expect(untold.contains("disk, backups     told to callers with a key only"))
    }
}

/// What a list says of its ranks, and how it continues.
struct ListReportTests {
    static let token = PageToken(bytes: [0xFB, 0xFF])

    static func page(_ ids: [PostID], firstRank: UInt64) -> Page {
        Page(posts: ids.map { Post(id: $0, title: "t") }, firstRank: firstRank, totalSize: 40)
    }

    static func header(_ report: PageReport) -> [Substring] {
        ReportTests.text(report).prefix { $0 != "\n" }.split(separator: " ")
    }

    static let partial: [(PostList, Bool)] = [
        (PostList(authorID: 7), false), (PostList(unreadOnly: true, includesDismissed: true), true),
        (PostList(), true),
    ]

    @Test("ranks are left out where posts may be", arguments: partial)
    func leavesRanksOut(_ list: PostList, _ hasViewer: Bool) {
        let report = PageReport([Self.page([1, 2], firstRank: 3)], of: list, hasViewer: hasViewer)
        #expect(Self.header(report) == ["SCORE", "COMMENTS", "AGE", "ID", "TITLE"])
    }

    @Test("ranks are shown where all posts are", arguments: [false, true])
    func showsRanks(_ hasViewer: Bool) {
        let list = PostList(window: .week, includesDismissed: hasViewer)
        let report = PageReport([Self.page([1], firstRank: 3)], of: list, hasViewer: hasViewer)
        #expect(Self.header(report).first == "RANK")
    }

    @Test func newerPostsHaveNoRanksAndATokenToContinueWith() {
        var page = Self.page([8, 7], firstRank: 0)
        page.refresh = Self.token
        page.newerCount = 46
        let report = PageReport([page])
        #expect(Self.header(report).first == "SCORE")
        let lines = ReportTests.text(report).split(separator: "\n")
        #expect(lines.suffix(2) == ["Newer:  --page-token -_8", "46 newer posts."])
    }

    @Test func saysWhereTheSnapshotEnds() {
        var pages = [Self.page([1], firstRank: 1000), Self.page([2], firstRank: 1001)]
        pages[0].consistency = .stable
        pages[1].consistency = .live
        let line = "From rank 1001 on: live."
        #expect(ReportTests.text(PageReport(pages)).contains("\n\(line)\n"))
        // A list that was asked for as STABLE may be LIVE as a whole; another one is never STABLE.
        let asked = PageReport([pages[1]], of: PostList(consistency: .stable))
        #expect(ReportTests.text(asked).contains("\n\(line)\n"))
        for page in pages { #expect(!ReportTests.text(PageReport([page])).contains("live")) }
    }

    @Test func continuesWithTheWholeCommand() {
        let typed = [
            "feedctl", "list", "--order", "hot", "--around", "7", "--page-token=x", "--from-rank",
            "2",
            "--newer-than", "3", "--author", "5", "--service-key-file", "/my keys/it's", "--feed",
            "",
        ]
        var page = Self.page([1], firstRank: 3)
        page.next = Self.token
        page.previous = Self.token
        let report = PageReport([page], commandLine: ListCommandLine(typed))
        let command =
            "feedctl list --order hot --author 5 --service-key-file '/my keys/it'\\''s' --feed '' "
            + "--page-token -_8"
        let lines = ReportTests.text(report).split(separator: "\n")
        #expect(lines.suffix(2) == ["Before: \(command)", "After:  \(command)"])
    }

    @Test func eachPageCountsFromItsOwnFirstRank() {
        // A post of the snapshot was deleted between the two pages.
        let report = PageReport([Self.page([1], firstRank: 1), Self.page([2], firstRank: 3)])
        let lines = ReportTests.text(report).split(separator: "\n")
        #expect(lines[1].hasPrefix("   1 ") && lines[2].hasPrefix("   3 "))
    }
}

/// What the commands about places, marks and lists print.
struct ViewerReportTests {
    @Test func aPlaceIsALine() throws {
        let report = Sentence.rank(of: 7, PostRank(rank: 3, totalSize: 25))
        #expect(ReportTests.text(report) == "Post 7: rank 3 of 25.\n")
        #expect(try ReportTests.object(report).keys.sorted() == ["post_id", "rank", "total_size"])
    }

    @Test func marksSayWhatIsLeftToRead() throws {
        let report = MarkReport(feed: "posts", unreadCount: 4)
        #expect(ReportTests.text(report) == "Unread: 4.\n")
        #expect(try ReportTests.object(report).keys.sorted() == ["feed", "unread_count"])
    }

    @Test func marksOfNamedPostsSayWhichExist() throws {
        let report = MarkReport(feed: "", unreadCount: 4, of: [7, 7, 9, 8], missing: [9, 8])
        #expect(ReportTests.text(report) == "Marked: 1. No such post: 8, 9.\nUnread: 4.\n")
        let object = try ReportTests.object(report)
        #expect(object["marked_count"] as? Int == 1)
        #expect(object["missing_ids"] as? [Int] == [8, 9])
        let whole = MarkReport(feed: "", unreadCount: 0, of: [7], missing: [])
        #expect(ReportTests.text(whole) == "Marked: 1.\nUnread: 0.\n")
    }

    @Test func aPostShowsItsMarksAndTheAccountOfItsAuthor() throws {
        var post = ReportTests.post
        post.author?.id = 12
        post.viewer = Viewer(vote: .up, isRead: true, isDismissed: true)
        let lines = ReportTests.text(PostReport(post)).split(separator: "\n")
        #expect(lines.contains("author      Ada (user 12)"))
        #expect(lines.contains("your marks  read, dismissed"))
        let object = try ReportTests.object(PostReport(post))
        #expect(object["author_id"] as? Int == 12)
        #expect(object["is_read"] as? Bool == true)
        #expect(object["is_dismissed"] as? Bool == true)
    }

    @Test func aListSaysWhatIsNewerAndWhatWasServed() throws {
        var first = ReportTests.page
        first.refresh = PageToken(bytes: [0xFB, 0xFF])
        first.newerCount = 2
        first.consistency = .stable
        var second = ReportTests.page
        second.consistency = .live
        let stable = try ReportTests.object(PageReport([first]))
        #expect(stable["consistency"] as? String == "stable")
        #expect(stable["refresh_token"] as? String == "-_8")
        #expect(stable["newer_count"] as? Int == 2)
        #expect(ReportTests.text(PageReport([first])).hasSuffix("\n2 newer posts.\n"))
        // A snapshot that ends makes the list one of several moments.
        let both = try ReportTests.object(PageReport([first, second]))
        #expect(both["consistency"] as? String == "live")
        let unsaid = try ReportTests.object(PageReport([ReportTests.page]))
        #expect(unsaid["consistency"] as? String == "")
    }

    @Test func aFeedSaysWhoseBallotsCount() throws {
        let report = FeedsReport([
            Feed(name: "polls", voteMode: .ballot, unreadCount: 3, voters: .users)
        ])
        let feed = try #require(
            (try ReportTests.object(report)["feeds"] as? [[String: Any]])?.first
        )
        #expect(feed["voters"] as? String == "users")
        #expect(feed["unread_count"] as? Int == 3)
    }

    @Test func aTableOfFeedsHasVotersAndUnreadPostsWhereThereAreAny() {
        let report = FeedsReport([
            Feed(
                name: "polls",
                defaultOrder: .top,
                voteMode: .ballot,
                postCount: 4,
                unreadCount: 3,
                voters: .users
            ),
            Feed(name: "posts", voteMode: .tally),
        ])
        let lines = ReportTests.text(report).split(separator: "\n").map {
            $0.split(separator: " ").prefix(6)
        }
        #expect(lines[0] == ["FEED", "POSTS", "UNREAD", "ORDER", "VOTES", "VOTERS"])
        #expect(lines[1].prefix(3) == ["polls", "4", "3"] && lines[1].last == "users")
    }
}

/// What `stats` says of a service with a journal, and of one without.
struct StatsReportTests {
    static func stats(
        _ journal: JournalStats?,
        _ backups: BackupStats? = nil,
        latencies: [LatencyStats] = [],
        heldTime: LatencyStats? = nil
    ) -> StatsReport {
        StatsReport(
            ServerStats(
                serverName: "feed-service",
                startTimeMilliseconds: ReportTests.now,
                connectionCount: 1,
                postCount: 2,
                revision: 3,
                methods: [],
                stripeContentionCount: 0,
                acceptedConnectionCount: 4,
                refusedConnectionCount: 0,
                slowFrameCount: 0,
                badFrameCount: 0,
                bufferedByteCount: 0,
                acceptPauseCount: 0,
                durability: journal == nil ? "none" : "fsync",
                journal: journal,
                channelCount: 5,
                evictedChannelCount: 6,
                repeatedCallCount: 7,
                channelByteCount: 1280,
                refusedChannelCount: 8,
                refusedDeviceCount: 9,
                backups: backups,
                latencies: latencies,
                heldTime: heldTime
            )
        )
    }

    static func latency(_ method: String) -> LatencyStats {
        LatencyStats(
            method: method,
            answerCount: 1_000,
            medianNanoseconds: 900,
            p90Nanoseconds: 12_345,
            p99Nanoseconds: 1_500_000,
            p999Nanoseconds: 250_000_000,
            maximumNanoseconds: 2_500_000_000
        )
    }

    static let journal = JournalStats(
        executedPosition: 12,
        durablePosition: 11,
        checkpointedPosition: 10,
        commitCount: 4,
        effectCount: 10,
        medianCommitMicroseconds: 800,
        p99CommitMicroseconds: 1500,
        maximumCommitMicroseconds: 9000,
        byteCount: 65_536,
        heldAnswerCount: 3,
        oldestHeldMicroseconds: 450,
        freeByteCount: 1 << 30,
        isReadOnly: true,
        checkpoints: CheckpointStats(
            backlogByteCount: 700,
            backlogLimitByteCount: 1000,
            refusedCount: 42,
            underWayMicroseconds: 123,
            longestStepMicroseconds: 456
        )
    )

    @Test func aJournalIsSeveralLines() {
        let text = ReportTests.text(Self.stats(Self.journal, BackupStats()))
        for line in [
            "durability        fsync",
            "channels          5 (6 forgotten, 8 refused)",
            "channel bytes     1280",
            "refused devices   9",
            "repeated calls    7",
            "journal           record 12 (11 durable, 10 checkpointed)",
            "commits           4 of 2.5 changes each",
            "commit time       p50 800 µs, p99 1500 µs, at most 9000 µs",
            "journal bytes     65536",
            "held answers      3, the oldest for 450 µs",
            "free bytes        1073741824",
            "read only         yes: changes are refused for want of room",
            "unfolded bytes    700 of at most 1000, 42 changes refused for it",
            "checkpoint        under way for 123 µs, longest slice 456 µs",
        ] {
            #expect(text.split(separator: "\n").contains { $0 == line }, "\(line)\n\(text)")
        }
    }

    @Test func aCheckpointWithoutRoomIsSaidToBeStalled() {
        var journal = Self.journal
        journal.checkpoints.isStalled = true
        let text = ReportTests.text(Self.stats(journal))
        #expect(text.contains("checkpoint        stalled: no room for state.db, longest"))
    }

    @Test func timesOfAnswersAreATable() {
        let stats = Self.stats(
            Self.journal,
            latencies: [Self.latency("cast_vote")],
            heldTime: Self.latency("")
        )
        let text = ReportTests.text(stats)
        for line in [
            "TIME OF ANSWERS     ANSWERS     P50      P90     P99     P99.9  MAXIMUM",
            "cast_vote              1000  0.9 µs  12.3 µs  1.5 ms  250 ms    2.5 s",
            "held until durable     1000  0.9 µs  12.3 µs  1.5 ms  250 ms    2.5 s",
        ] {
            let lines = text.split(separator: "\n").map {
                $0.split(separator: " ").joined(separator: " ")
            }
            let words = line.split(separator: " ").joined(separator: " ")
            #expect(lines.contains(words), "\(line)\n\(text)")
        }
        #expect(!ReportTests.text(Self.stats(nil)).contains("TIME OF ANSWERS"))
    }

    @Test func programsReadTimesInNanoseconds() throws {
        let report = Self.stats(nil, latencies: [Self.latency("cast_vote")])
        let object = try ReportTests.object(report)
        let latencies = try #require(object["latencies"] as? [[String: Any]])
        #expect(latencies.first?["method"] as? String == "cast_vote")
        #expect(latencies.first?["p999_ns"] as? Int == 250_000_000)
        let held = try #require(object["held_time"] as? [String: Any])
        #expect(held["max_ns"] as? Int == 0)
    }

    @Test func reportsNothingOfAMissingJournal() {
        let text = ReportTests.text(Self.stats(nil))
        #expect(text.contains("durability        none\n"))
        #expect(!text.contains("journal"))
    }

    @Test func programsFindTheSameMembersEverywhere() throws {
        let full = try ReportTests.object(Self.stats(Self.journal))
        let empty = try ReportTests.object(Self.stats(nil))
        #expect(full.keys.sorted() == empty.keys.sorted())
        let members = try #require(full["journal"] as? [String: Any])
        let zeros = try #require(empty["journal"] as? [String: Any])
        #expect(members.keys.sorted() == zeros.keys.sorted())
        #expect(members["commit_p99_us"] as? Int == 1500)
        #expect(members["is_read_only"] as? Bool == true)
        #expect(zeros.values.allSatisfy { ($0 as? Int) == 0 })
    }
}
