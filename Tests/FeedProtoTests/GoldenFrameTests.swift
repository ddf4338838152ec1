import FeedProto
import FeedTestSupport
import Testing

/// What version 0.1 has sent means today what it meant then.
@Suite struct GoldenFrameTests {
    @Test("T-VER-4: old requests are understood", arguments: GoldenFrames.requests.indices)
    func understandsRequests(index: Int) throws {
        let golden = GoldenFrames.requests[index]
        let bytes = try #require(try GoldenFrames.bytes("0.1/requests.txt")[golden.name])
        var decoder = MessageDecoder()
        let frame = try decoder.decodeClientFrame(try Self.body(bytes))
        #expect(frame == golden.frame)
    }

    @Test("T-VER-4: old answers are understood", arguments: GoldenFrames.answers.indices)
    func understandsAnswers(index: Int) throws {
        let golden = GoldenFrames.answers[index]
        let bytes = try #require(try GoldenFrames.bytes("0.1/answers.txt")[golden.name])
        var decoder = MessageDecoder()
        let frame = try decoder.decodeServerFrame(try Self.body(bytes))
        #expect(frame == golden.frame)
    }

    @Test func everyFrameOfTheFilesIsCompared() throws {
        let requests = try GoldenFrames.bytes("0.1/requests.txt")
        #expect(Set(requests.keys) == Set(GoldenFrames.requests.map(\.name)))
        let answers = try GoldenFrames.bytes("0.1/answers.txt")
        #expect(Set(answers.keys) == Set(GoldenFrames.answers.map(\.name)))
    }

    /// The one frame that the bytes are, without its header.
    private static func body(_ bytes: [UInt8]) throws -> [UInt8] {
        var frames = FrameDecoder()
        frames.append(bytes[...])
        let body = try #require(try frames.nextBody())
        #expect(body.count + 4 == bytes.count)
        return body
    }
}
