import FeedProto
import FeedTestSupport
import Testing

@Suite struct FrameDecoderTests {
    static let bodies: [[UInt8]] = [[1], Array(repeating: 7, count: 300), [2, 3], [4, 5, 6]]
    static let stream = bodies.flatMap(Wire.framed)

    private func frames(_ chunks: [ArraySlice<UInt8>]) throws -> [[UInt8]] {
        var decoder = FrameDecoder(maximumFrameByteCount: 300)
        var frames: [[UInt8]] = []
        for chunk in chunks {
            decoder.append(chunk)
            while let frame = try decoder.nextBody() { frames.append(frame) }
        }
        #expect(decoder.bufferedByteCount == 0)
        return frames
    }

    @Test func givesFramesOfOneAppend() throws {
        #expect(try frames([Self.stream[...]]) == Self.bodies)
    }

    @Test func givesFramesByteByByte() throws {
        #expect(try frames(Self.stream.indices.map { Self.stream[$0...$0] }) == Self.bodies)
    }

    @Test func givesFramesAtEverySplit() throws {
        for split in Self.stream.indices {
            #expect(try frames([Self.stream[..<split], Self.stream[split...]]) == Self.bodies)
        }
    }

    @Test func givesFramesOfChunksOfAnySize() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            var chunks: [ArraySlice<UInt8>] = []
            var rest = Self.stream[...]
            while !rest.isEmpty {
                let count = Int.random(in: 0...min(40, rest.count), using: &random)
                chunks.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(try frames(chunks) == Self.bodies)
        }
    }

    @Test func takesBytesOfAnEncoder() throws {
        var encoder = FrameEncoder()
        try encoder.append(ClientFrame(id: 1, request: .listFeeds))
        var decoder = FrameDecoder()
        encoder.withBytes { decoder.append($0) }
        #expect(try decoder.nextBody() == [8, 1, 0x92, 0x03, 0])
        #expect(try decoder.nextBody() == nil)
    }

    @Test func givesFramesBeforeTheBadOne() throws {
        var decoder = FrameDecoder(maximumFrameByteCount: 10)
        decoder.append(Wire.framed([1]) + Array("GET / HTTP/1.1".utf8))
        #expect(try decoder.nextBody() == [1])
        #expect(throws: FrameError.tooLarge(length: 0x4745_5420, limit: 10)) {
            try decoder.nextBody()
        }
    }

    /// After any number of frames the decoder has the bytes of the incomplete frame only.
    @Test func holdsOnlyTheUnfinishedFrame() throws {
        var decoder = FrameDecoder()
        for _ in 0..<10_000 {
            decoder.append(Wire.framed([1, 2, 3]) + [0, 0])
            #expect(try decoder.nextBody() == [1, 2, 3])
            #expect(decoder.bufferedByteCount == 2)
            decoder.append([0, 1, 9] as [UInt8])
            #expect(try decoder.nextBody() == [9])
        }
        #expect(decoder.bufferedByteCount == 0)
    }
}
