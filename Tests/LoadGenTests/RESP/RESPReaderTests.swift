import FeedTransport
import LoadGen
import Testing

@Suite struct RESPReaderTests {
    @Test(
        arguments: [
            ("+OK\r\n", .line("OK")),
            ("-ERR no such key\r\n", .error("ERR no such key")),
            (":-12\r\n", .integer(-12)),
            ("$3\r\nabc\r\n", .bytes(Array("abc".utf8))),
            ("$0\r\n\r\n", .bytes([])),
            ("$2\r\n\r\n\r\n", .bytes([13, 10])),
            ("$-1\r\n", .null),
            ("*-1\r\n", .null),
            ("*0\r\n", .array([])),
            ("*2\r\n$1\r\na\r\n:7\r\n", .array([.bytes([97]), .integer(7)])),
        ] as [(String, RESPValue)]
    )
    func readsAReplyThatArrivesInPieces(_ text: String, _ value: RESPValue) throws {
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count {
            let (reply, offset) = try read(Array(bytes.prefix(length)))
            #expect(reply == nil && offset == 0, "\(length) bytes")
        }
        let (reply, offset) = try read(bytes + Array("+next".utf8))
        #expect(reply == value)
        #expect(offset == bytes.count)
    }

    @Test(
        arguments: [
            ("!x\r\n", .unknownType(33)),
            (":1x\r\n", .badNumber("1x")),
            ("$-2\r\n", .badNumber("-2")),
            ("$524289\r\n", .tooLong(524_289, limit: 524_288)),
            ("*524289\r\n", .tooLong(524_289, limit: 524_288)),
            ("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", .tooDeep(limit: 4)),
        ] as [(String, RESPError)]
    )
    func refusesWhatIsNoReply(_ text: String, _ error: RESPError) {
        #expect(throws: error) { try read(Array(text.utf8)) }
    }

    @Test(arguments: [
        ("$1\r\n0\r\n", 0), ("$2\r\n17\r\n", 17), ("$2\r\n-3\r\n", -3),
        ("$10\r\n1234567890\r\n", 1_234_567_890),
        ("$18\r\n123456789012345678\r\n", 123_456_789_012_345_678),
    ])
    func readsAScoreThatIsWhole(_ text: String, _ score: Int64) {
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count {
            let (found, offset) = readScore(Array(bytes.prefix(length)))
            #expect(found == nil && offset == 0, "\(length) bytes")
        }
        let (found, offset) = readScore(bytes)
        #expect(found == score && offset == bytes.count)
    }

    @Test(arguments: [
        "$3\r\n1.5\r\n", "$-1\r\n", "-ERR x\r\n", ":123456\r\n", "$5\r\n1e+21\r\n",
        "$1\r\n12\r\n\r\n",
        "$0\r\n\r\n\r\n\r\n",
    ])
    func leavesEverythingElseToTheReader(_ text: String) {
        let (found, offset) = readScore(Array(text.utf8))
        #expect(found == nil && offset == 0)
    }

    @Test func readsScoresAsRedisWritesThem() {
        func score(_ text: String) -> Int64? { RESPValue.bytes(Array(text.utf8)).score }
        #expect(score("17") == 17)
        #expect(score("1e+15") == 1_000_000_000_000_000)
        #expect(score("1.5") == nil)
        #expect(score("inf") == nil)
        #expect(RESPValue.null.score == nil)
    }

    private func read(_ bytes: [UInt8]) throws -> (RESPValue?, Int) {
        var offset = 0
        let result = bytes.withRawSpan { span in
            Result { try RESPReader.next(in: span, at: &offset) }
        }
        return (try result.get(), offset)
    }

    private func readScore(_ bytes: [UInt8]) -> (Int64?, Int) {
        var offset = 0
        let score = bytes.withRawSpan { RESPReader.nextScore(in: $0, at: &offset) }
        return (score, offset)
    }
}
