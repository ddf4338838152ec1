import FeedClient
import FeedCtl
import FeedDataset
import FeedImport
import FeedProto
import Foundation
import Testing

/// Batches of a file, what is left out of them, and what is reported.
struct ImportTests {
    static func row(_ line: Int, text: String = "") -> DatasetPost {
        var row = DatasetPost(line: line)
        row.authorName = "Ada"
        row.title = "post \(line)"
        row.text = text
        row.upvoteCount = 5
        row.downvoteCount = 2
        row.commentCount = 7
        row.createTimeMilliseconds = 1_000
        return row
    }

    static func batch(_ lines: ClosedRange<Int>) -> ImportBatch {
        var batch = ImportBatch(votes: .imported)
        for line in lines { batch.append(row(line)) }
        return batch
    }

    /// A refusal that names one post.
    static func refusal(_ violation: FieldViolation) -> Status {
        Status(
            code: .invalidArgument,
            reason: violation.reason,
            message: violation.field.hasSuffix(".title")
                ? "The title is too long." : "\(violation.field) is refused.",
            violations: [violation]
        )
    }

    @Test("votes that are cast later are not imported")
    func leavesOutVotesThatAreCast() {
        var batch = ImportBatch(votes: .cast)
        batch.append(Self.row(2))
        #expect(batch.posts[0].upvoteCount == 0 && batch.posts[0].downvoteCount == 0)
        #expect(batch.posts[0].commentCount == 7)
    }

    @Test func takesAPostOfAnySizeAlone() {
        let row = Self.row(2, text: String(repeating: "x", count: 600_000))
        var batch = ImportBatch(votes: .imported)
        #expect(batch.hasRoom(for: .post(row)))
        batch.append(Self.row(1))
        #expect(!batch.hasRoom(for: .post(row)))
        #expect(batch.hasRoom(for: .post(Self.row(3))))
    }

    @Test func namesThePlaceInAMessageByItsField() {
        var batch = Self.batch(10...11)
        let removed = batch.remove(
            Self.refusal(FieldViolation(field: "posts[1].link_url", reason: .badURL))
        )
        #expect(removed?.post.message == "link_url is refused.")
    }

    @Test func takesWhatTheFileSays() {
        let post = Self.batch(2...2).posts[0]
        #expect(post.author?.displayName == "Ada")
        #expect(post.title == "post 2")
        #expect(post.upvoteCount == 5 && post.downvoteCount == 2 && post.commentCount == 7)
        #expect(post.createTimeMilliseconds == 1_000)
    }

    @Test func isFullAtTheLimitOfAFrame() {
        var batch = Self.batch(1...255)
        #expect(batch.hasRoom(for: .post(Self.row(256))))
        batch.append(Self.row(256))
        #expect(!batch.hasRoom(for: .post(Self.row(257))))
    }

    @Test("posts of 40,000 bytes fill a batch before they fill a frame")
    func isFullBeforeItsTextsFillAFrame() throws {
        var batch = ImportBatch(votes: .imported)
        let row = Self.row(1, text: String(repeating: "x", count: 40_000))
        while batch.hasRoom(for: .post(row)) { batch.append(row) }
        #expect(batch.posts.count > 1 && batch.posts.count < 256)
        let request = Request.importPosts(ImportPostsRequest(posts: batch.posts))
        #expect(try ClientFrame(id: 1, request: request).encoded().count < 1 << 20)
    }

    @Test func leavesOutThePostThatNoFrameHolds() {
        var batch = Self.batch(10...12)
        batch.append(Self.row(13, text: String(repeating: "x", count: 2_000_000)))
        batch.append(Self.row(14))
        let removed = batch.removeLongest(limitByteCount: 1_048_576)
        #expect(
            removed?.post
                == LeftOutPost(
                    line: 13,
                    field: "post",
                    reason: "TEXT_TOO_LONG",
                    actual: 2_000_010,
                    limit: 1_048_576,
                    message: "The post has 2000010 bytes; the limit is 1048576."
                )
        )
        #expect(batch.lines == [10, 11, 12, 14])
        #expect(batch.posts.map(\.title) == ["post 10", "post 11", "post 12", "post 14"])
    }

    private static let longTitle = LeftOutPost(
        line: 11,
        field: "title",
        reason: "TITLE_TOO_LONG",
        actual: 300,
        limit: 255,
        message: "The title is too long."
    )

    @Test func leavesOutThePostThatAViolationNames() {
        var batch = Self.batch(10...13)
        let violation = FieldViolation(
            field: "posts[1].title",
            reason: .titleTooLong,
            limit: 255,
            actual: 300
        )
        let removed = batch.remove(Self.refusal(violation))
        #expect(removed?.place == 1)
        #expect(removed?.post == Self.longTitle)
        #expect(batch.lines == [10, 12, 13])
        #expect(batch.posts.map(\.title) == ["post 10", "post 12", "post 13"])
    }

    @Test(arguments: [
        "posts", "feed", "posts[4].title", "posts[-1].title", "posts[x].title", "posts[0]",
    ])
    func leavesOutNothingForOtherViolations(_ field: String) {
        var batch = Self.batch(10...13)
        let removed = batch.remove(Self.refusal(FieldViolation(field: field, reason: .badField)))
        #expect(removed == nil)
        #expect(batch.posts.count == 4)
    }

    @Test func reportsALineAndATable() throws {
        let report = ImportReport(feed: "books", importedCount: 989, leftOut: [Self.longTitle])
        #expect(
            ReportTests.text(report) == """
                Imported 989 posts into books; 1 left out.

                LINE  ACTUAL  LIMIT  FIELD  REASON
                  11     300    255  title  TITLE_TOO_LONG

                """
        )
        let object = try ReportTests.object(report)
        #expect(object["imported_count"] as? Int == 989)
        let leftOut = try #require((object["left_out"] as? [[String: Any]])?.first)
        #expect(leftOut.keys.sorted() == ["actual", "field", "limit", "line", "reason", "value"])
    }

    @Test func reportsTheValueOfAPostThatIsNoNumber() throws {
        let posts = [
            LeftOutPost(
                line: 9,
                field: "downvote_count",
                reason: "BAD_COUNT",
                value: "-1",
                actual: 0,
                limit: 0,
                message: "The number of downvotes is -1."
            )
        ]
        let report = ImportReport(feed: "books", importedCount: 2, leftOut: posts)
        #expect(
            ReportTests.text(report).hasSuffix(
                """
                LINE  ACTUAL  LIMIT  FIELD           REASON
                   9      -1         downvote_count  BAD_COUNT

                """
            )
        )
        let object = try ReportTests.object(report)
        let leftOut = try #require((object["left_out"] as? [[String: Any]])?.first)
        #expect(leftOut["value"] as? String == "-1")
    }

    /// The number of such a violation is the byte that no address may have.
    @Test func reportsNoLimitWhereNoneWasPassed() throws {
        var batch = Self.batch(10...11)
        let violation = FieldViolation(field: "posts[1].link_url", reason: .badURL, actual: 32)
        let removed = batch.remove(Self.refusal(violation))
        let post = try #require(removed?.post)
        let report = ImportReport(feed: "books", importedCount: 1, leftOut: [post])
        #expect(
            ReportTests.text(report).hasSuffix(
                """
                LINE  ACTUAL  LIMIT  FIELD     REASON
                  11                 link_url  BAD_URL

                """
            )
        )
        let object = try ReportTests.object(report)
        let leftOut = try #require((object["left_out"] as? [[String: Any]])?.first)
        #expect(leftOut["actual"] as? Int == 32 && leftOut["limit"] as? Int == 0)
    }

    @Test func countsRowsWithoutPostsTowardsAFullBatch() throws {
        var reader = DatasetReader()
        reader.append(Array(("title,ups\n" + String(repeating: "a,x\n", count: 256)).utf8))
        var batch = ImportBatch(votes: .imported)
        for _ in 0..<256 {
            let row = try #require(try reader.next())
            #expect(batch.hasRoom(for: row))
            batch.append(row)
        }
        #expect(!batch.hasRoom(for: .post(Self.row(258))))
        #expect(batch.posts.isEmpty)
        #expect(batch.leftOut.map(\.line) == Array(2...257))
        #expect(batch.leftOut.allSatisfy { $0.field == "upvote_count" && $0.value == "x" })
        #expect(batch.leftOut.allSatisfy { $0.reason == "BAD_COUNT" && $0.limit == 0 })
    }

    @Test func aTableForPeopleIsNotEndless() throws {
        let post = LeftOutPost(
            line: 1,
            field: "title",
            reason: "X",
            actual: 0,
            limit: 0,
            message: ""
        )
        let posts = Array(repeating: post, count: 1_000)
        let report = ImportReport(feed: "books", importedCount: 0, leftOut: posts)
        #expect(ReportTests.text(report).hasSuffix("… and 800 more; --json names them all.\n"))
        #expect((try ReportTests.object(report)["left_out"] as? [Any])?.count == 1_000)
    }
}

/// What of a file is in the feed where batches behind a failed one were imported.
struct ImportProgressTests {
    @Test func namesTheLineUpToWhichAllIsInAndWhatIsBehind() {
        var progress = ImportProgress(fromLine: 1)
        progress.add(number: 0, rows: 2...257, importedCount: 250)
        #expect(
            progress.description == """
                250 posts were imported before. All up to line 257 is in; --from-line 258 goes on.
                """
        )
        progress.add(number: 2, rows: 514...769, importedCount: 256)
        #expect(
            progress.description == """
                506 posts were imported before. All up to line 257 is in; --from-line 258 goes on. \
                Lines 514 to 769 are in, too.
                """
        )
    }

    @Test func goesOnWhereItBegan() {
        #expect(ImportProgress(fromLine: 9).throughLine == 8)
    }
}
