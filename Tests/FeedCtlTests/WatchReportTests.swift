import FeedClient
import FeedCtl
import FeedProto
import Testing

struct WatchReportTests {
    private static func post(_ id: PostID, score: Int64, revision: UInt64) -> Post {
        var post = Post(id: id, feed: "posts", title: "post \(id)", score: score)
        post.upvoteCount = UInt64(score)
        post.revision = revision
        return post
    }

    /// Three posts, and what they are after votes on the last one, a new post and one that is gone.
    private static func elements() -> (before: WatchedPosts, after: WatchedPosts) {
        var copy = WatchCopy(of: WatchPostsRequest(topCount: 3))
        let first = [
            post(4, score: 2, revision: 4), post(8, score: 1, revision: 5),
            post(5, score: 0, revision: 6),
        ]
        copy.apply(
            WatchPostsEvent(changed: first, ranking: [4, 8, 5], isReset: true),
            revision: 90,
            isFirst: true
        )
        let before = WatchedPosts(copy)
        copy.apply(
            WatchPostsEvent(
                changed: [post(5, score: 3, revision: 94), post(9, score: 0, revision: 93)],
                ranking: [5, 4, 9],
                removedIDs: [8],
                newPostCount: 1
            ),
            revision: 94,
            isFirst: false
        )
        var after = before
        after.follow(copy)
        return (before, after)
    }

    @Test("new posts that were looked at since are none")
    func aCountMayGoDown() throws {
        let (first, before) = Self.elements()
        #expect(before.newPostCount > first.newPostCount)
        let json = try WatchReport(first, after: before)?.json() ?? ""
        #expect(json.contains("\"new_post_count\" : 0"), "\(json)")
    }

    @Test func aScreenKeepsItsRowsAndSaysWhatIsNew() {
        let (before, after) = Self.elements()
        let style = TextStyle(nowMilliseconds: 0, columnCount: 40)
        #expect(
            LivePage(before, title: "posts").lines(style, rowCount: nil) == [
                "SCORE  UP  DOWN  ID  TITLE",
                "    2   2     0   4  post 4",
                "    1   1     0   8  post 8",
                "    0   0     0   5  post 5",
                "", "In order.", "posts",
            ]
        )
        #expect(
            LivePage(after, title: "posts").lines(style, rowCount: nil) == [
                "SCORE  UP  DOWN  ID  TITLE",
                "    2   2     0   4  post 4",
                "    1   1     0   8  (gone) post 8",
                "    3   3     0   5  post 5",
                "", "1 new post, the order has changed: r sh…", "posts",
            ]
        )
    }

    @Test func aLowScreenHasTheFirstRowsAndTheLastLines() {
        let style = TextStyle(nowMilliseconds: 0, columnCount: nil, isBold: true)
        let lines = LivePage(Self.elements().before, title: "posts").lines(style, rowCount: 5)
        #expect(lines.count == 5)
        #expect(lines[1].hasSuffix("post 4"))
        #expect(lines[3] == "\u{1B}[1mIn order.\u{1B}[0m")
    }

    @Test func aChangeIsALine() throws {
        let (before, after) = Self.elements()
        let first = try #require(WatchReport(before, after: nil))
        #expect(
            ReportTests.text(first)
                == "90: post 4 has 2; post 8 has 1; post 5 has 0; order: 4 8 5\n"
        )
        let second = try #require(WatchReport(after, after: before))
        #expect(
            ReportTests.text(second)
                == "94: post 5 has 3; post 9 has 0; gone: 8; new posts: 1; order: 5 4 9\n"
        )
        let line = try second.jsonLine()
        #expect(line.hasSuffix("}\n") && line.dropLast().contains("\n") == false)
        let object = try ReportTests.object(second)
        #expect(object["revision"] as? Int == 94)
        #expect(object["ranking"] as? [Int] == [5, 4, 9])
        #expect(object["removed_ids"] as? [Int] == [8])
        #expect(object["new_post_count"] as? Int == 1)
        #expect((object["changed"] as? [[String: Any]])?.map { $0["id"] as? Int } == [5, 9])
    }

    @Test("a resumed watch whose list is as it was is no line", arguments: [UInt64(0), 2])
    func aResumedWatchIsNoChange(postCount: UInt64) {
        let posts = (0..<postCount).map {
            Self.post(PostID(rawValue: 1 + $0), score: 2, revision: 4)
        }
        let ids = posts.map(\.id)
        var copy = WatchCopy(of: WatchPostsRequest(topCount: 3))
        copy.apply(
            WatchPostsEvent(changed: posts, ranking: ids, isReset: true),
            revision: 90,
            isFirst: true
        )
        let before = WatchedPosts(copy)
        copy.apply(WatchPostsEvent(ranking: ids), revision: 95, isFirst: true)
        var after = before
        after.follow(copy)
        #expect(after != before)
        #expect(WatchReport(after, after: before) == nil)
        #expect(WatchReport(after, after: nil) != nil)
    }

    @Test func theFirstPostOfAnEmptyListIsNew() throws {
        var copy = WatchCopy(of: WatchPostsRequest(topCount: 3))
        copy.apply(WatchPostsEvent(isReset: true), revision: 90, isFirst: true)
        let before = WatchedPosts(copy)
        let post = Self.post(4, score: 0, revision: 91)
        copy.apply(
            WatchPostsEvent(changed: [post], ranking: [4], newPostCount: 1),
            revision: 91,
            isFirst: false
        )
        var after = before
        after.follow(copy)
        let report = try #require(WatchReport(after, after: before))
        #expect(ReportTests.text(report) == "91: post 4 has 0; new posts: 1; order: 4\n")
    }

    @Test func onlyAnEmptyListHasNoPosts() throws {
        var copy = WatchCopy(of: WatchPostsRequest(topCount: 3))
        copy.apply(WatchPostsEvent(isReset: true), revision: 90, isFirst: true)
        let report = try #require(WatchReport(WatchedPosts(copy), after: nil))
        #expect(ReportTests.text(report) == "90: no posts\n")
    }
}
