import FeedDataset
import FeedTestSupport
import Foundation
import Testing

@Suite struct DatasetReaderTests {
    /// The posts that a reader has; a rejected row is a failure of the test.
    static func posts(_ reader: inout DatasetReader) throws -> [DatasetPost] {
        var posts: [DatasetPost] = []
        while let row = try reader.next() {
            switch row {
            case .post(let post): posts.append(post)
            case .rejected(let rejection): Issue.record("\(rejection)")
            }
        }
        return posts
    }

    private static func read(_ file: [UInt8]) throws -> [DatasetPost] {
        var reader = DatasetReader()
        reader.append(file)
        reader.finish()
        return try posts(&reader)
    }

    private static func read(_ file: String) throws -> [DatasetPost] { try read(Array(file.utf8)) }

    @Test func takesEveryColumnFromItsName() throws {
        let posts = try Self.read(
            """
            downs,score,ups,url,title,other,selftext,created_utc,num_comments,thumbnail,author
            3,7,10,http://a/b,A title,zzz,Some text,1331610464.5,121,http://t/p.jpg,Ada

            """
        )
        var post = DatasetPost(line: 2)
        post.authorName = "Ada"
        post.title = "A title"
        post.text = "Some text"
        post.linkURL = "http://a/b"
        post.thumbnailURL = "http://t/p.jpg"
        post.createTimeMilliseconds = 1_331_610_464_500
        post.commentCount = 121
        post.upvoteCount = 10
        post.downvoteCount = 3
        #expect(posts == [post])
    }

    @Test func needsATitleOnly() throws {
        var post = DatasetPost(line: 2)
        post.title = "a"
        #expect(try Self.read("title\na") == [post])
    }

    @Test(arguments: ["self", "default", "nsfw", "image", ""])
    func takesWordsForNoThumbnail(word: String) throws {
        let posts = try Self.read("title,thumbnail\na,\(word)\n")
        #expect(posts.map(\.thumbnailURL) == [""])
    }

    @Test func countsLinesOfTheFile() throws {
        let posts = try Self.read("title,x\r\n\"a\nb\r\nc\rd\",1\r\n\r\ne,2\rf,\"\n\"\ng,3")
        #expect(posts.map(\.line) == [2, 7, 8, 10])
    }

    @Test func keepsTimesToTheMillisecond() throws {
        let posts = try Self.read("title,created_utc\na,0\nb,1.0009\nc,1376577708.123\nd,5e3\n")
        #expect(posts.map(\.createTimeMilliseconds) == [0, 1001, 1_376_577_708_123, 5_000_000])
    }

    static let bad: [(String, String, DatasetError)] = [
        ("an empty file", "", .empty),
        ("empty lines only", "\n\r\n", .empty),
        ("no titles", "a,b\n1,2\n", .missingColumn("title", for: .title, among: ["a", "b"])),
        ("titles twice", "title,title\n", .repeatedColumn("title")),
        ("a short line", "title,x\na,1\n\nb\n", .fieldCount(line: 4, actual: 1, expected: 2)),
        (
            "a long line after a title with line breaks",
            "title,x\n\"a\n\n\",1\nb,1,2\n",
            .fieldCount(line: 5, actual: 3, expected: 2)
        ),
        ("text after a closing quote", "title,x\na,1\n\"b\" c,2\n", .textAfterQuote(line: 3)),
        ("a quote that is never closed", "title,x\na,1\nb,\"2\nc,3\n", .unclosedQuote(line: 3)),
    ]

    @Test(arguments: bad)
    func saysWhatIsWrongAndWhere(_ name: String, _ file: String, _ error: DatasetError) {
        #expect(throws: error) { try Self.read(file) }
    }

    @Test func refusesAColumnsNameThatIsNoUTF8() {
        let file = Array("title,".utf8) + [0xE9, 0x0A]
        #expect(throws: DatasetError.badColumnName(line: 1, column: 2)) { try Self.read(file) }
    }

    @Test func stopsWhereAnOpenQuoteSwallowsTheFile() {
        var reader = DatasetReader()
        reader.append(Array("title\n\"".utf8))
        let piece = [UInt8](repeating: 0x61, count: 1 << 20)
        #expect(throws: DatasetError.recordTooLong(line: 2, limit: 16 << 20)) {
            for _ in 0..<20 {
                reader.append(piece)
                while try reader.next() != nil {}
            }
        }
    }

    @Test func givesPostsBeforeTheErrorBehindThem() throws {
        var reader = DatasetReader()
        reader.append(Array("title,x\na,1\nb\n".utf8))
        var post = DatasetPost(line: 2)
        post.title = "a"
        #expect(try reader.next() == .post(post))
        #expect(throws: DatasetError.fieldCount(line: 3, actual: 1, expected: 2)) {
            try reader.next()
        }
    }
}

/// Every field of every real post is what Python's reader finds there.
@Suite(.timeLimit(.minutes(10))) struct OtherReaderTests {
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

/// A wrong value costs its own post and no other; what is said of it has line, value and limit.
@Suite struct RejectedPostTests {
    /// The titles of a file's posts and the rows that give none.
    private static func read(_ file: [UInt8]) throws -> ([String], [RejectedPost]) {
        var reader = DatasetReader()
        reader.append(file)
        reader.finish()
        var titles: [String] = []
        var rejected: [RejectedPost] = []
        while let row = try reader.next() {
            switch row {
            case .post(let post): titles.append(post.title)
            case .rejected(let rejection): rejected.append(rejection)
            }
        }
        return (titles, rejected)
    }

    struct Sample: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var column: String
        var value: String
        var field: String
        var cause: RejectedPost.Cause
        var limit: UInt64
        var message: String
    }

    private static func count(_ column: String, _ value: String, _ field: String) -> Sample {
        Sample(
            testDescription: "\(column) \(value)",
            column: column,
            value: value,
            field: field,
            cause: .badCount,
            limit: value.count > 18 ? 18_446_744_073_709_551_615 : 0,
            message: "\"\(column)\" is \"\(value)\", which is no whole number from 0 to "
                + "18446744073709551615."
        )
    }

    private static func time(_ value: String, limit: UInt64) -> Sample {
        Sample(
            testDescription: "created_utc \(value)",
            column: "created_utc",
            value: value,
            field: "create_time_ms",
            cause: .badTime,
            limit: limit,
            message: "\"created_utc\" is \"\(value)\", which is no number of seconds from 0 to "
                + "9000000000000 and no time of ISO 8601; --time-format says how else times are written."
        )
    }

    static let samples = [
        count("downs", "-1", "downvote_count"),
        count("ups", "many", "upvote_count"),
        count("ups", "18446744073709551616", "upvote_count"),
        count("num_comments", "1.5", "comment_count"),
        time("nan", limit: 0), time("0x10", limit: 0), time("-1", limit: 0), time("", limit: 0),
        time("1e300", limit: 9_000_000_000_000),
    ]

    @Test(arguments: samples)
    func rejectsOnePostForItsValue(_ sample: Sample) throws {
        let file = "title,x,\(sample.column)\na,1,1\nb,2,\(sample.value)\nc,3,1\n"
        let (titles, rejected) = try Self.read(Array(file.utf8))
        #expect(titles == ["a", "c"])
        let rejection = try #require(rejected.first)
        #expect(rejected.count == 1)
        #expect(rejection.line == 3)
        #expect(rejection.column == sample.column)
        #expect(rejection.field == sample.field)
        #expect(rejection.cause == sample.cause)
        #expect(rejection.value == (sample.value.isEmpty ? "(empty)" : sample.value))
        #expect(rejection.limit == sample.limit)
        #expect(rejection.message == sample.message)
    }

    @Test func rejectsOnePostForTextThatIsNoUTF8() throws {
        let file = Array("title,x\na,1\n".utf8) + [0x62, 0xE9, 0x2C, 0x31] + Array("\nc,1".utf8)
        let (titles, rejected) = try Self.read(file)
        #expect(titles == ["a", "c"])
        #expect(rejected.map(\.line) == [3])
        #expect(rejected.map(\.cause) == [.badText])
        #expect(rejected.map(\.message) == ["\"title\" is \"b\u{FFFD}\", which is not UTF-8."])
    }

    @Test func namesTheFirstWrongValueOfALine() throws {
        let (titles, rejected) = try Self.read(Array("title,ups,downs\na,-1,-2\n".utf8))
        #expect(titles.isEmpty)
        #expect(rejected.map(\.column) == ["ups"])
    }

    @Test func showsNoMoreOfAFileThanIsSafe() throws {
        let value = "\u{1B}[31m\u{202E}é\u{9B}2J" + String(repeating: "x", count: 1 << 20)
        let (_, rejected) = try Self.read(Array("title,ups\na,\(value)\n".utf8))
        let rejection = try #require(rejected.first)
        let start = "\\u{1B}[31m\\u{202E}é\\u{9B}2Jxxx"
        #expect(rejection.value.hasPrefix(start), "\(rejection.value)")
        #expect(rejection.value.hasSuffix("x…"))
        #expect(rejection.message.hasPrefix("\"ups\" is \"\(start)"), "\(rejection.message)")
        #expect(rejection.message.utf8.count < 200)
    }
}
