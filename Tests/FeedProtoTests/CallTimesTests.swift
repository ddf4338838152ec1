import FeedProto
import FeedTestSupport
import Testing

@Suite struct CallTimesTests {
    private static let times = CallTimes(
        receivedNanoseconds: 1,
        executedNanoseconds: .max,
        releasedNanoseconds: 0
    )

    @Test func aCallAsksForItsTimes() throws {
        let frame = ClientFrame(id: 1, request: .listFeeds, isTimed: true)
        let bytes = try frame.encoded()
        #expect(bytes == Wire.framed([8, 1, 0x30, 1, 0x92, 0x03, 0]))
        var decoder = MessageDecoder()
        #expect(try decoder.decodeClientFrame(Array(bytes.dropFirst(4))) == frame)
    }

    @Test func theTimesAreTheFramesLastField() throws {
        var encoder = FrameEncoder()
        try encoder.append(ServerFrame(id: 1, revision: 2, response: .empty))
        let isAdded = encoder.append(Self.times, toFrameAt: 0)
        #expect(isAdded)
        encoder.setReleaseTime(0x0807_0605_0403_0201, endingAt: encoder.byteCount)
        let fixed: [[UInt8]] = [
            [9, 1, 0, 0, 0, 0, 0, 0, 0], [17] + .init(repeating: 255, count: 8),
            [25, 1, 2, 3, 4, 5, 6, 7, 8],
        ]
        #expect(
            encoder.bytes()
                == Wire.framed([8, 1, 16, 2, 0xE2, 0x03, 0, 0x2A, 27] + fixed.joined())
        )
    }

    @Test func anyAnswerTakesTimes() throws {
        var encoder = FrameEncoder()
        var expected: [ServerFrame] = []
        for (number, answer) in Samples.serverFrames.enumerated() {
            let start = encoder.byteCount
            try encoder.append(answer)
            var timed = answer
            if !number.isMultiple(of: 3) {
                let isAdded = encoder.append(Self.times, toFrameAt: start)
                #expect(isAdded)
                encoder.setReleaseTime(UInt64(number) << 32, endingAt: encoder.byteCount)
                timed.times = Self.times
                timed.times?.releasedNanoseconds = UInt64(number) << 32
            }
            expected.append(timed)
        }
        var frames = FrameDecoder()
        frames.append(encoder.bytes()[...])
        var decoder = MessageDecoder()
        for answer in expected {
            let body = try #require(try frames.nextBody())
            let decoded = try decoder.decodeServerFrame(body)
            #expect(decoded == answer)
            // As the general encoder writes it, too.
            let again = try Array(decoded.encoded().dropFirst(4))
            #expect(try decoder.decodeServerFrame(again) == answer)
        }
        #expect(try frames.nextBody() == nil)
    }

    @Test func timesDoNotPassTheFrameLimit() throws {
        let answer = ServerFrame(id: 1, revision: 2, response: .empty)
        let length = try answer.encoded().count - 4
        var encoder = FrameEncoder(maximumFrameByteCount: length + 28)
        try encoder.append(answer)
        var isAdded = encoder.append(Self.times, toFrameAt: 0)
        #expect(!isAdded)
        #expect(try encoder.bytes() == answer.encoded())
        encoder = FrameEncoder(maximumFrameByteCount: length + 29)
        try encoder.append(answer)
        isAdded = encoder.append(Self.times, toFrameAt: 0)
        #expect(isAdded)
    }

    @Test("a timed vote is left to the decoder of all calls")
    func noScanTakesATimedVote() throws {
        var frame = ClientFrame(VoteFrame(id: 1, vote: .init(postID: 2, direction: .up)))
        frame.isTimed = true
        let body = try Array(frame.encoded().dropFirst(4))
        #expect(unsafe VoteFrame(scanning: body.span.bytes, in: 0..<body.count) == nil)
    }
}
