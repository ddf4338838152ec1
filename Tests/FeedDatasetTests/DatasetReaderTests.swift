import FeedDataset
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

    private static func read(_ file: String) throws -> [DatasetPost] {
        try read(Array(file.utf8))
    }

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

    struct Bad: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var file: String
        var error: DatasetError
    }

    static let bad = [
        Bad(testDescription: "an empty file", file: "", error: .empty),
        Bad(testDescription: "empty lines only", file: "\n\r\n", error: .empty),
        Bad(
            testDescription: "no titles",
            file: "a,b\n1,2\n",
            error: .missingColumn("title", for: .title, among: ["a", "b"])
        ),
        Bad(
            testDescription: "titles twice",
            file: "title,title\n",
            error: .repeatedColumn("title")
        ),
        Bad(
            testDescription: "a short line",
            file: "title,x\na,1\n\nb\n",
            error: .fieldCount(line: 4, actual: 1, expected: 2)
        ),
        Bad(
            testDescription: "a long line after a title with line breaks",
            file: "title,x\n\"a\n\n\",1\nb,1,2\n",
            error: .fieldCount(line: 5, actual: 3, expected: 2)
        ),
        Bad(
            testDescription: "text after a closing quote",
            file: "title,x\na,1\n\"b\" c,2\n",
            error: .textAfterQuote(line: 3)
        ),
        Bad(
            testDescription: "a quote that is never closed",
            file: "title,x\na,1\nb,\"2\nc,3\n",
            error: .unclosedQuote(line: 3)
        ),
    ]

    @Test(arguments: bad)
    func saysWhatIsWrongAndWhere(_ bad: Bad) {
        #expect(throws: bad.error) { try Self.read(bad.file) }
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
