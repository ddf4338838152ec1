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
        let report = VoteReport(counts)
        #expect(Self.text(report) == "Post 7: score -1 (2 up, 3 down), your vote is up.\n")
        #expect(
            try Self.object(report).keys.sorted() == [
                "downvote_count", "post_id", "score", "upvote_count", "vote",
            ]
        )
    }

    @Test func aDeletionIsALine() throws {
        #expect(Self.text(DeletionReport(deletedID: 7)) == "Post 7 is deleted.\n")
        #expect(try Self.object(DeletionReport(deletedID: 7))["deleted_id"] as? Int == 7)
    }

    @Test func aBackupIsALine() throws {
        let report = BackupReport(BackupResponse(name: "20270115T080000Z", revision: 9))
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
