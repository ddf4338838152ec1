import FeedProto
import FeedTestSupport
import Testing

/// Encoded frames are decoded to equal frames, in any chunks.
@Suite struct RoundTripTests {
    @Test(arguments: Samples.clientFrames.indices)
    func keepsEveryCall(index: Int) throws {
        let frame = Samples.clientFrames[index]
        let bytes = try frame.encoded()
        for chunks in Self.chunkings(bytes) {
            var decoder = MessageDecoder()
            let body = try #require(try Self.body(chunks))
            let decoded = try decoder.decodeClientFrame(body)
            #expect(decoded == frame)
        }
    }

    @Test(arguments: Samples.serverFrames.indices)
    func keepsEveryAnswer(index: Int) throws {
        let frame = Samples.serverFrames[index]
        let bytes = try frame.encoded()
        for chunks in Self.chunkings(bytes) {
            var decoder = MessageDecoder()
            let body = try #require(try Self.body(chunks))
            let decoded = try decoder.decodeServerFrame(body)
            #expect(decoded == frame)
        }
    }

    @Test func oneDecoderServesAllFrames() throws {
        var decoder = MessageDecoder()
        for _ in 0..<3 {
            for frame in Samples.clientFrames {
                let decoded = try decoder.decodeClientFrame(Array(frame.encoded().dropFirst(4)))
                #expect(decoded == frame)
            }
            for frame in Samples.serverFrames {
                let decoded = try decoder.decodeServerFrame(Array(frame.encoded().dropFirst(4)))
                #expect(decoded == frame)
            }
        }
    }

    @Test func samplesCoverEveryCall() {
        let names = Set(
            Samples.requests.map { Mirror(reflecting: $0).children.first?.label ?? "-" }
        )
        // Four calls have no payload and therefore no label.
        #expect(names.count == 24)
    }

    /// Whole, byte by byte, and in two chunks split at up to 200 places.
    private static func chunkings(_ bytes: [UInt8]) -> [[ArraySlice<UInt8>]] {
        let step = max(1, bytes.count / 200)
        return [[bytes[...]], bytes.indices.map { bytes[$0...$0] }]
            + stride(from: 0, to: bytes.count, by: step).map { [bytes[..<$0], bytes[$0...]] }
    }

    private static func body(_ chunks: [ArraySlice<UInt8>]) throws -> [UInt8]? {
        var frames = FrameDecoder()
        for chunk in chunks { frames.append(chunk) }
        return try frames.nextBody()
    }
}
