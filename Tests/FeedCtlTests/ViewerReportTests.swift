import FeedClient
import FeedCtl
import FeedProto
import Testing

/// What the commands about places, marks and lists print.
struct ViewerReportTests {
    @Test func aPlaceIsALine() throws {
        let report = RankReport(postID: 7, PostRank(rank: 3, totalSize: 25))
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
