import FeedDataset
import Testing

@Suite struct DatasetReaderTests {
    private static func read(_ file: [UInt8]) throws -> [DatasetPost] {
        var reader = DatasetReader()
        reader.append(file)
        reader.finish()
        var posts: [DatasetPost] = []
        while let post = try reader.next() { posts.append(post) }
        return posts
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
        Bad(testDescription: "no titles", file: "a,b\n1,2\n", error: .missingColumn("title")),
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
            testDescription: "a long line behind a title with line breaks",
            file: "title,x\n\"a\n\n\",1\nb,1,2\n",
            error: .fieldCount(line: 5, actual: 3, expected: 2)
        ),
        Bad(
            testDescription: "text behind a closing quote",
            file: "title,x\na,1\n\"b\" c,2\n",
            error: .textAfterQuote(line: 3)
        ),
        Bad(
            testDescription: "a quote that is never closed",
            file: "title,x\na,1\nb,\"2\nc,3\n",
            error: .unclosedQuote(line: 3)
        ),
        Bad(
            testDescription: "no number",
            file: "title,ups\na,many\n",
            error: .badNumber(line: 2, column: "ups", value: "many")
        ),
        Bad(
            testDescription: "a number below 0",
            file: "title,downs\na,-1\n",
            error: .badNumber(line: 2, column: "downs", value: "-1")
        ),
        Bad(
            testDescription: "nothing for a number",
            file: "title,num_comments\na,\n",
            error: .badNumber(line: 2, column: "num_comments", value: "")
        ),
        Bad(
            testDescription: "no time",
            file: "title,created_utc\na,nan\n",
            error: .badNumber(line: 2, column: "created_utc", value: "nan")
        ),
        Bad(
            testDescription: "a hexadecimal time",
            file: "title,created_utc\na,0x10\n",
            error: .badNumber(line: 2, column: "created_utc", value: "0x10")
        ),
        Bad(
            testDescription: "a time beyond all times",
            file: "title,created_utc\na,1e300\n",
            error: .badNumber(line: 2, column: "created_utc", value: "1e300")
        ),
    ]

    @Test(arguments: bad)
    func saysWhatIsWrongAndWhere(_ bad: Bad) {
        #expect(throws: bad.error) { try Self.read(bad.file) }
    }

    @Test func refusesTextThatIsNoUTF8() {
        let file = Array("title,x\na,1\n".utf8) + [0x61, 0xE9, 0x2C, 0x31]
        #expect(throws: DatasetError.badText(line: 3, column: "title")) { try Self.read(file) }
    }

    @Test func showsNoMoreOfAFileThanIsSafe() {
        let value = "\u{1B}[31m\u{202E}é\u{9B}2J" + String(repeating: "x", count: 1 << 20)
        let text = DatasetError.badNumber(line: 2, column: "ups", value: value).description
        #expect(text.hasPrefix("Line 2 has \"\\u{1B}[31m\\u{202E}é\\u{009B}2Jxxx"), "\(text)")
        #expect(text.hasSuffix("x…\" in \"ups\", which is no number from 0 up."))
        #expect(text.utf8.count < 200)
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
        #expect(try reader.next()?.title == "a")
        #expect(throws: DatasetError.fieldCount(line: 3, actual: 1, expected: 2)) {
            try reader.next()
        }
    }
}
