import FeedDataset
import FeedTestSupport
import Foundation
import Testing

/// Files as other programs write them: their columns, separators, numbers and times.
@Suite struct DatasetFormatTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var file: String
        var columns: String?
        var time: String?
    }

    static let shapes = [
        Shape(
            testDescription: "scores and names of other case",
            file: "id,Title, SCORE ,Created_UTC,,,id\n7,A,12,1600000000,x,y,7\n"
        ),
        Shape(
            testDescription: "semicolons, numbers as floats",
            file: "\r\ntitle;\"a,b,c\";ups;downs;created_utc\r\nA;\"x;y\";12.0;;1600000000.0\r\n"
        ),
        Shape(
            testDescription: "tabs, milliseconds",
            file: "title\tups\tcreated_at\nA\t12\t1600000000000\n"
        ),
        Shape(
            testDescription: "ISO times",
            file: "title,ups,created\nA,12,2020-09-13T14:26:40+02:00\n"
        ),
        Shape(
            testDescription: "named columns and a pattern",
            file: "headline,points,when\nA,12,9/13/2020 12:26:40 PM\n",
            columns: "title=Headline,upvotes=points,time=when",
            time: "%m/%d/%Y %I:%M:%S %p"
        ),
        Shape(
            testDescription: "a score beside downvotes",
            file: "title,score,downs,created_utc\nA,12,0,1600000000\n"
        ),
    ]

    private static func read(
        _ shape: Shape,
        pieces count: Int = 1
    ) throws -> ([DatasetRow], ColumnUse) {
        var reader = DatasetReader(
            format: try DatasetFormat(columns: shape.columns, time: shape.time)
        )
        var rows: [DatasetRow] = []
        var rest = Array(shape.file.utf8)[...]
        while !rest.isEmpty {
            reader.append(rest.prefix(count))
            rest = rest.dropFirst(count)
            while let row = try reader.next() { rows.append(row) }
        }
        reader.finish()
        while let row = try reader.next() { rows.append(row) }
        return (rows, try #require(try reader.columnUse()))
    }

    @Test(arguments: shapes) func readsTheSamePost(_ shape: Shape) throws {
        for count in [1, 7, 1 << 20] {
            let (rows, _) = try Self.read(shape, pieces: count)
            guard case .post(let post) = rows.first, rows.count == 1
            else { throw Unexpected(rows) }
            #expect(post.title == "A")
            #expect(post.upvoteCount == 12 && post.downvoteCount == 0)
            #expect(post.createTimeMilliseconds == 1_600_000_000_000)
        }
    }

    @Test(arguments: [
        ("ups,downs", "-3,0", 0, 3), ("ups", "-3.00", 0, 3), ("score,downs", "5,2", 7, 2),
        ("score,downs", "-5,9", 4, 9), ("score", "-5", 0, 5), ("ups,score", "4,1", 4, 0),
        ("ups", "", 0, 0),
    ])
    func countsVotes(_ columns: String, _ values: String, _ up: UInt64, _ down: UInt64) throws {
        let file = "title,\(columns)\nA,\(values)\n"
        let (rows, _) = try Self.read(Shape(testDescription: "", file: file))
        guard case .post(let post) = rows.first else { throw Unexpected(rows) }
        #expect(post.upvoteCount == up && post.downvoteCount == down)
    }

    @Test(arguments: [("ups,downs", "-3,1"), ("score,downs", "-3,1"), ("ups", "1.5"), ("ups", "-")])
    func rejectsVotesThatAreNone(_ columns: String, _ values: String) throws {
        let file = "title,\(columns)\nA,\(values)\n"
        let (rows, _) = try Self.read(Shape(testDescription: "", file: file))
        guard case .rejected(let rejection) = rows.first else { throw Unexpected(rows) }
        #expect(rejection.field == "upvote_count")
    }

    @Test func namesWhatIsNotReadAndWhatIsMissing() throws {
        let file = "Title,Score,Body,When,,flair,flair\nA,1,b,c,,d,e\n"
        let use = try Self.read(Shape(testDescription: "", file: file)).1
        #expect(use.read == ["title": "Title", "upvotes": "Score", "text": "Body"])
        #expect(use.unread == ["When", "flair", "flair"])
        #expect(
            use.description == """
                Columns that are not read: "When", "flair", "flair". There is no column author, url, \
                thumbnail, created_utc, num_comments, downs: --columns author=NAME,url=NAME,\
                thumbnail=NAME,time=NAME,comments=NAME,downvotes=NAME names others.
                """
        )
    }

    @Test(arguments: [("title=Nothing", "Nothing"), ("title=a", "\"a\"")])
    func namesAColumnThatIsNotThereOrThereTwice(_ columns: String, _ said: String) throws {
        let shape = Shape(testDescription: "", file: "A,A,title\n1,2,3\n", columns: columns)
        let error = #expect(throws: DatasetError.self) { try Self.read(shape) }
        #expect(error?.description.contains(said) == true)
    }

    @Test(arguments: ["title", "name=x", "title=", "title=a,title=b", "", "title=a,"])
    func refusesColumnsThatAreNone(_ columns: String) {
        let error = #expect(throws: DatasetFormatError.self) {
            try DatasetFormat(columns: columns, time: nil)
        }
        #expect(error?.description.hasPrefix("--columns: expected FIELD=NAME") == true)
    }

    @Test(arguments: ["hours", "%q", "%", "%H:%M", ""])
    func refusesFormsThatAreNone(_ time: String) {
        let error = #expect(throws: DatasetFormatError.self) {
            try DatasetFormat(columns: nil, time: time)
        }
        #expect(error?.description.hasPrefix("--time-format: expected seconds") == true)
    }

    private static func time(_ value: String, _ form: String?) throws -> Int64? {
        let shape = Shape(testDescription: "", file: "title,created\nA,\"\(value)\"\n", time: form)
        guard case .post(let post) = try read(shape).0.first else { return nil }
        return post.createTimeMilliseconds
    }

    /// Foundation writes the times: another calendar than the reader's.
    @Test(arguments: TestEnvironment.seeds(1...2))
    func readsTimesAsFoundationWritesThem(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        for _ in 0..<2_000 {
            let seconds = Int64.random(in: 86_400..<4_102_444_800, using: &generator)
            let date = Date(timeIntervalSince1970: Double(seconds))
            let minutes = Int.random(in: -12 * 60...14 * 60, using: &generator)
            for (written, form, zone) in [
                ("yyyy-MM-dd'T'HH:mm:ssXXX", "iso", minutes), ("yyyy-MM-dd HH:mm:ss", nil, 0),
                ("dd MMM yyyy hh:mm:ss a xx", "%d %b %Y %I:%M:%S %p %z", minutes),
                ("M/d/yy H:m:s", "%m/%d/%y %H:%M:%S", 0),
            ] as [(String, String?, Int)] {
                if written.contains("yy H"), seconds >= 3_124_224_000 { continue }
                formatter.dateFormat = written
                formatter.timeZone = TimeZone(secondsFromGMT: 60 * zone)
                let text = formatter.string(from: date)
                #expect(try Self.time(text, form) == 1_000 * seconds, "\(text)")
            }
        }
    }

    @Test(arguments: [
        ("2020-02-30", "iso"), ("2020-13-01", "iso"), ("1969-12-31", "iso"), ("2020-01-01x", "iso"),
        ("1600000000", "iso"), ("2020-01-01", "seconds"), ("1/2/2020 25:00", "%d/%m/%Y %H:%M"),
    ])
    func rejectsATimeThatIsNone(_ value: String, _ form: String) throws {
        #expect(try Self.time(value, form) == nil)
    }
}

/// What of a field's bytes is its text, tried on titles.
@Suite struct CSVFieldTests {
    /// The titles of a file, fed in pieces of a size.
    static func titles(_ file: [UInt8], pieceByteCount: Int) throws -> [String] {
        var reader = DatasetReader()
        var titles: [String] = []
        for start in stride(from: 0, to: file.count, by: pieceByteCount) {
            reader.append(file[start..<min(start + pieceByteCount, file.count)])
            titles += try DatasetReaderTests.posts(&reader).map(\.title)
        }
        reader.finish()
        return titles + (try DatasetReaderTests.posts(&reader).map(\.title))
    }

    static let samples: [(String, String, [String])] = [
        ("plain", "title,x\na,1\nb,2\n", ["a", "b"]),
        ("no line end at the end", "title\na\nb", ["a", "b"]),
        ("CR LF", "title,x\r\na,1\r\nb,2\r\n", ["a", "b"]),
        ("CR", "title,x\ra,1\rb,2\r", ["a", "b"]),
        ("CR at the very end", "title\na\r", ["a"]),
        ("quotes", "title\n\"a\"\n", ["a"]),
        ("quotes at the very end", "title\n\"a\"", ["a"]),
        ("a comma in quotes", "title\n\"a,b\"\n", ["a,b"]),
        (
            "doubled quotes",
            "title\n\"\"\"a\"\" said \"\"b\"\"\"\n\"\"\"\"\n",
            ["\"a\" said \"b\"", "\""]
        ),
        ("quotes within a field", "title\na \"b\" c\"\n", ["a \"b\" c\""]),
        (
            "line breaks in quotes",
            "title,x\r\n\"a\nb\rc\r\nd\",1\r\ne,2\r\n",
            ["a\nb\rc\r\nd", "e"]
        ),
        (
            "spaces and tabs around",
            "title,x\n a ,1\n\tb\t,2\n\" c \",3\n",
            [" a ", "\tb\t", " c "]
        ),
        ("empty fields", "x,title,y\n,,\n1,\"\",2\n", ["", ""]),
        ("empty lines", "title\n\n\r\na\n\n\nb\n\n", ["a", "b"]),
        ("a byte order mark", "\u{FEFF}title\na\n", ["a"]),
        ("a byte order mark later on", "x,title\n1,\u{FEFF}a\n", ["\u{FEFF}a"]),
        ("characters of many bytes", "title\n\"é€🍎\"\n日本\n", ["é€🍎", "日本"]),
        ("entities as they are", "title\na &amp; b\n", ["a &amp; b"]),
        ("a header alone", "title,x\n", []),
        ("quotes in the header", "\"title\",\"x\"\na,1\n", ["a"]),
    ]

    @Test(arguments: samples)
    func readsWhatThePiecesAre(_ name: String, _ file: String, _ titles: [String]) throws {
        let file = Array(file.utf8)
        for size in [file.count, 1, 2, 3, 5] {
            let read = try Self.titles(file, pieceByteCount: size)
            #expect(read.map { Array($0.utf8) } == titles.map { Array($0.utf8) }, "\(size)")
        }
    }

    /// Whatever a title holds, written by the rules of RFC 4180 it comes back.
    @Test(arguments: TestEnvironment.seeds(1...20))
    func readsWhatWasWritten(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let parts = ["a", ",", "\"", "\n", "\r", "\r\n", " ", "é", "🍎", "\t", "'", ";"]
        for _ in 0..<200 {
            let lineEnd = ["\n", "\r\n", "\r"].randomElement(using: &random) ?? "\n"
            var file = "first,title,last"
            var titles: [String] = []
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
                let title = (0..<Int.random(in: 0..<9, using: &random))
                    .map { _ in parts.randomElement(using: &random) ?? "" }.joined()
                titles.append(title)
                file += lineEnd + "1," + Self.written(title) + ",\"x\""
            }
            if random.oneIn(2) { file += lineEnd }
            let size = Int.random(in: 1...20, using: &random)
            let read = try Self.titles(Array(file.utf8), pieceByteCount: size)
            #expect(
                read.map { Array($0.utf8) } == titles.map { Array($0.utf8) },
                "FEED_SEED=\(seed), \(file.debugDescription)"
            )
        }
    }

    private static func written(_ title: String) -> String {
        let isPlain = title.utf8.allSatisfy { !",\"\r\n".utf8.contains($0) }
        return isPlain ? title : "\"" + title.replacing("\"", with: "\"\"") + "\""
    }
}
