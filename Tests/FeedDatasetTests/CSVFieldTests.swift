import FeedDataset
import FeedTestSupport
import Testing

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

    struct Sample: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var file: String
        var titles: [String]
    }

    static let samples = [
        Sample(testDescription: "plain", file: "title,x\na,1\nb,2\n", titles: ["a", "b"]),
        Sample(testDescription: "no line end at the end", file: "title\na\nb", titles: ["a", "b"]),
        Sample(testDescription: "CR LF", file: "title,x\r\na,1\r\nb,2\r\n", titles: ["a", "b"]),
        Sample(testDescription: "CR", file: "title,x\ra,1\rb,2\r", titles: ["a", "b"]),
        Sample(testDescription: "CR at the very end", file: "title\na\r", titles: ["a"]),
        Sample(testDescription: "quotes", file: "title\n\"a\"\n", titles: ["a"]),
        Sample(testDescription: "quotes at the very end", file: "title\n\"a\"", titles: ["a"]),
        Sample(testDescription: "a comma in quotes", file: "title\n\"a,b\"\n", titles: ["a,b"]),
        Sample(
            testDescription: "doubled quotes",
            file: "title\n\"\"\"a\"\" said \"\"b\"\"\"\n\"\"\"\"\n",
            titles: ["\"a\" said \"b\"", "\""]
        ),
        Sample(
            testDescription: "quotes within a field",
            file: "title\na \"b\" c\"\n",
            titles: ["a \"b\" c\""]
        ),
        Sample(
            testDescription: "line breaks in quotes",
            file: "title,x\r\n\"a\nb\rc\r\nd\",1\r\ne,2\r\n",
            titles: ["a\nb\rc\r\nd", "e"]
        ),
        Sample(
            testDescription: "spaces and tabs around",
            file: "title,x\n a ,1\n\tb\t,2\n\" c \",3\n",
            titles: [" a ", "\tb\t", " c "]
        ),
        Sample(
            testDescription: "empty fields",
            file: "x,title,y\n,,\n1,\"\",2\n",
            titles: ["", ""]
        ),
        Sample(
            testDescription: "empty lines",
            file: "title\n\n\r\na\n\n\nb\n\n",
            titles: ["a", "b"]
        ),
        Sample(testDescription: "a byte order mark", file: "\u{FEFF}title\na\n", titles: ["a"]),
        Sample(
            testDescription: "a byte order mark later on",
            file: "x,title\n1,\u{FEFF}a\n",
            titles: ["\u{FEFF}a"]
        ),
        Sample(
            testDescription: "characters of many bytes",
            file: "title\n\"é€🍎\"\n日本\n",
            titles: ["é€🍎", "日本"]
        ),
        Sample(
            testDescription: "entities as they are",
            file: "title\na &amp; b\n",
            titles: ["a &amp; b"]
        ),
        Sample(testDescription: "a header alone", file: "title,x\n", titles: []),
        Sample(
            testDescription: "quotes in the header",
            file: "\"title\",\"x\"\na,1\n",
            titles: ["a"]
        ),
    ]

    @Test(arguments: samples)
    func readsWhatThePiecesAre(_ sample: Sample) throws {
        let file = Array(sample.file.utf8)
        for size in [file.count, 1, 2, 3, 5] {
            let titles = try Self.titles(file, pieceByteCount: size)
            #expect(
                titles.map { Array($0.utf8) } == sample.titles.map { Array($0.utf8) },
                "\(size)"
            )
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
