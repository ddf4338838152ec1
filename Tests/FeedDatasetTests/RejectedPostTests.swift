import FeedDataset
import Testing

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
