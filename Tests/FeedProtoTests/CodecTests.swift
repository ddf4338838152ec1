import FeedProto
import FeedTestSupport
import Testing

/// protobuf-c and the codec in Swift are one to their callers: equal values, hashes, bytes and refusals.
@Suite struct CodecTests {
    /// Each is read as a call and as an answer; `FEED_CODEC_FRAMES` is for long runs.
    private static let frameCount = Int(TestEnvironment.number("FEED_CODEC_FRAMES") ?? 80_000)

    private enum Decoded<Frame: Equatable>: Equatable {
        case frame(Frame, contentHash: UInt32)
        case refused(MessageError)
    }

    private enum Encoded: Equatable {
        case bytes([UInt8])
        case refused(FrameError)
    }

    @Test(arguments: TestEnvironment.seeds(1...8))
    func codecsAreEqual(seed: UInt64) {
        var frames = RandomFrames(seed: seed)
        var random = SeededGenerator(seed: seed &+ 1 << 33)
        var pair = Pair(limitByteCount: 256 << 10)
        var outcomes = Outcomes()
        for number in 0..<Self.frameCount / 8 {
            // Every other hundred frames have so little memory that some of them take too much.
            if number.isMultiple(of: 100) {
                let fewest = number.isMultiple(of: 200) ? 256 << 10 : 64
                pair = Pair(
                    limitByteCount: Int.random(in: fewest...max(8192, fewest), using: &random)
                )
            }
            let body = frames.next()
            let limit = random.oneIn(8) ? Int.random(in: 1...200, using: &random) : 1 << 20
            guard pair.isEqual(body, limit: limit, &outcomes) else {
                Issue.record("seed \(seed), frame \(number), limit \(limit): \(body)")
                return
            }
        }
        #expect(outcomes.areAllTried(of: Self.frameCount / 8), "seed \(seed): \(outcomes)")
    }

    /// How often each outcome was seen.
    private struct Outcomes {
        var frames = 0
        var malformed = 0
        var badTexts = 0
        var tooManyFields = 0
        var hashes = 0
        var tooLarge = 0

        mutating func add<Frame>(_ decoded: Decoded<Frame>, _ encoded: Encoded?) {
            switch decoded {
            case .frame(_, let hash):
                frames += 1
                hashes += hash == 0 ? 0 : 1
            case .refused(.malformed): malformed += 1
            case .refused(.badText): badTexts += 1
            case .refused(.tooManyFields): tooManyFields += 1
            case .refused(.outOfMemory): break
            }
            if case .refused(.tooLarge) = encoded { tooLarge += 1 }
        }

        func areAllTried(of count: Int) -> Bool {
            [frames, malformed, badTexts, tooManyFields, hashes, tooLarge].allSatisfy {
                $0 > count / 200
            }
        }
    }

    /// Both codecs.
    private struct Pair: ~Copyable {
        private var c: ProtobufCCodec.Decoder
        private var swift: SwiftCodec.Decoder
        private var cEncoder = ProtobufCCodec.Encoder()
        private var swiftEncoder = SwiftCodec.Encoder()
        private var output = OutputBuffer()

        init(limitByteCount: Int) {
            c = ProtobufCCodec.Decoder(limitByteCount: limitByteCount)
            swift = SwiftCodec.Decoder(limitByteCount: limitByteCount)
        }

        mutating func isEqual(_ body: [UInt8], limit: Int, _ outcomes: inout Outcomes) -> Bool {
            let call = Self.call(body, &c)
            let answer = Self.answer(body, &swift)
            guard Self.call(body, &swift) == call, Self.answer(body, &c) == answer else {
                return false
            }
            var bytes: Encoded?
            if case .frame(let frame, _) = call {
                bytes = Self.encoded(&output) { output throws(FrameError) in
                    try cEncoder.append(frame, to: &output, limit: limit)
                }
                let other = Self.encoded(&output) { output throws(FrameError) in
                    try swiftEncoder.append(frame, to: &output, limit: limit)
                }
                guard other == bytes else { return false }
            }
            outcomes.add(call, bytes)
            bytes = nil
            if case .frame(let frame, _) = answer {
                bytes = Self.encoded(&output) { output throws(FrameError) in
                    try cEncoder.append(frame, to: &output, limit: limit)
                }
                let other = Self.encoded(&output) { output throws(FrameError) in
                    try swiftEncoder.append(frame, to: &output, limit: limit)
                }
                guard other == bytes else { return false }
            }
            outcomes.add(answer, bytes)
            return true
        }

        private static func call<Decoder: BodyDecoder & ~Copyable>(
            _ body: [UInt8],
            _ decoder: inout Decoder
        ) -> Decoded<ClientFrame> {
            defer { decoder.reset() }
            do throws(MessageError) {
                let frame = try unsafe decoder.clientFrame(body.span.bytes)
                return .frame(frame, contentHash: decoder.contentHash())
            } catch {
                return .refused(error)
            }
        }

        private static func answer<Decoder: BodyDecoder & ~Copyable>(
            _ body: [UInt8],
            _ decoder: inout Decoder
        ) -> Decoded<ServerFrame> {
            defer { decoder.reset() }
            do throws(MessageError) {
                return try unsafe .frame(decoder.serverFrame(body.span.bytes), contentHash: 0)
            } catch {
                return .refused(error)
            }
        }

        private static func encoded(
            _ output: inout OutputBuffer,
            _ append: (inout OutputBuffer) throws(FrameError) -> Void
        ) -> Encoded {
            defer { output.removeAll() }
            do throws(FrameError) {
                try append(&output)
                return output.withBytes { bytes in
                    unsafe .bytes(bytes.withUnsafeBytes { unsafe Array($0) })
                }
            } catch {
                return .refused(error)
            }
        }
    }
}
