import CMallocHook
import FeedProto
import Testing

/// A frame cannot make the decoder take more memory than the limit, or keep what it took.
@Suite struct DecoderMemoryTests {
    private static let limitByteCount = 2 * (1 << 20) + (256 << 10)
    private static let idleByteCount = 64 << 10
    private let vote = Wire.number(1, 7) + Wire.bytes(40, Wire.number(1, 5) + Wire.number(2, 1))

    @Test func refusesFrameFullOfUnknownFields() throws {
        let body = Array(repeatElement(Wire.number(15, 1), count: 524_288).joined())
        #expect(body.count == 1 << 20)
        var decoder = MessageDecoder()
        #expect(throws: MessageError.tooManyFields(limitByteCount: Self.limitByteCount)) {
            _ = try decoder.decodeClientFrame(body)
        }
        #expect(decoder.reservedByteCount == Self.idleByteCount)
        #expect(try decoder.decodeClientFrame(vote).id == 7)
    }

    @Test func refusesFrameFullOfVotes() throws {
        let votes = Array(repeatElement(Wire.bytes(1, Wire.number(1, 1)), count: 200_000).joined())
        var decoder = MessageDecoder()
        #expect(throws: MessageError.tooManyFields(limitByteCount: Self.limitByteCount)) {
            _ = try decoder.decodeClientFrame(Wire.number(1, 7) + Wire.bytes(41, votes))
        }
        #expect(decoder.reservedByteCount == Self.idleByteCount)
    }

    @Test func decodesTextThatFillsFrame() throws {
        let title = String(repeating: "a", count: (1 << 20) - 100)
        let post = Wire.bytes(30, Wire.bytes(2, Wire.text(4, title)))
        var decoder = MessageDecoder()
        let frame = try decoder.decodeClientFrame(Wire.number(1, 7) + post)
        #expect(frame.request == .createPost(CreatePostRequest(post: Post(title: title))))
        #expect(decoder.reservedByteCount == Self.idleByteCount)
    }

    @Test func decodesBatchFarOverItsLimit() throws {
        let ids = [UInt64](1...50_000)
        let bytes = try ClientFrame(id: 7, request: .batchGetPosts(.init(ids: ids))).encoded()
        var decoder = MessageDecoder()
        let frame = try decoder.decodeClientFrame(Array(bytes.dropFirst(4)))
        #expect(frame.request == .batchGetPosts(BatchGetPostsRequest(ids: ids)))
    }

    @Test func takesNoMemoryBeforeFirstUse() {
        #expect(MessageDecoder().reservedByteCount == 0)
    }

    @Test(.enabled(if: malloc_hook_is_active()))
    func saysSoWhereThereIsNoMemory() throws {
        var decoder = MessageDecoder()
        // Nothing else runs meanwhile: an expectation may ask for as much memory, and ends the process.
        malloc_hook_fail_from(Self.idleByteCount)
        let refused = Result { try decoder.decodeClientFrame(vote) }
        malloc_hook_fail_from(.max)
        #expect(throws: MessageError.outOfMemory) { _ = try refused.get() }
        #expect(try decoder.decodeClientFrame(vote).id == 7)
    }
}
