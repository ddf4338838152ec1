import FeedDataset
import FeedTestSupport
import Foundation
import Testing

/// Every field of every real post is what Python's reader finds there.
@Suite(.timeLimit(.minutes(10)))
struct OtherReaderTests {
    private static let python = Programs.command("python3")

    /// One list of texts a line and post, in JSON.
    private static let script = """
        import csv, json, sys
        csv.field_size_limit(1 << 24)
        for row in csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8-sig')):
            print(json.dumps([row[name] for name in sys.argv[2:]]))
        """

    private static func text(_ post: DatasetPost) -> [String] {
        [
            post.title, post.text, post.linkURL, post.thumbnailURL,
            String(post.createTimeMilliseconds), String(post.commentCount),
            String(post.upvoteCount), String(post.downvoteCount),
        ]
    }

    private static func normalised(_ row: [String]) -> [String] {
        var row = row
        if ["self", "default", "nsfw", "image", "spoiler"].contains(row[3]) { row[3] = "" }
        row[4] = String(Int64((Double(row[4]) ?? -1) * 1000))
        return row
    }

    @Test(
        .enabled(if: !RealPosts.files.isEmpty, "\(RealPosts.absence)"),
        .enabled(if: OtherReaderTests.python != nil, "there is no python3"),
        arguments: RealPosts.files
    )
    func agrees(file: URL) async throws {
        let python = try #require(Self.python)
        let columns = [
            "title", "selftext", "url", "thumbnail", "created_utc", "num_comments", "ups", "downs",
        ]
        let process = try RunningProcess(python, ["-c", Self.script, file.path()] + columns)
        let (status, output) = await process.finish()
        #expect(status == 0)
        var reader = DatasetReader()
        reader.append(try Data(contentsOf: file))
        reader.finish()
        var rows = output.filter { !$0.isEmpty }[...]
        for post in try DatasetReaderTests.posts(&reader) {
            let next = rows.popFirst()
            let line = try #require(next)
            let row = try JSONDecoder().decode([String].self, from: Data(line.utf8))
            let wanted = Self.normalised(row).map { Array($0.utf8) }
            #expect(Self.text(post).map { Array($0.utf8) } == wanted, "line \(post.line)")
        }
        #expect(rows.isEmpty)
    }
}
