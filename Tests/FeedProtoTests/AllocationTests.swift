import CMallocHook
import FeedProto
import Testing

/// A vote's way through the library costs no allocation, nor does a page's way out.
@Suite(.enabled(if: malloc_hook_is_active())) struct AllocationTests {
    private struct Codec: ~Copyable {
        var decoder = MessageDecoder()
        var encoder = FrameEncoder()
    }

    /// The allocations of many repeats after the first ones, which may grow the buffers.
    private func allocations(
        repeats: Int,
        _ body: (inout Codec) throws -> Void
    ) rethrows -> UInt64 {
        var codec = Codec()
        for _ in 0..<10_000 { try body(&codec) }
        let before = malloc_hook_count()
        for _ in 0..<repeats { try body(&codec) }
        return malloc_hook_count() - before
    }

    @Test func votesAllocateNothing() throws {
        let vote = CastVoteRequest(postID: 99_123, direction: .up)
        let body = try Array(
            ClientFrame(id: 9, request: .castVote(vote), sequence: 1).encoded().dropFirst(4)
        )
        var score: Int64 = 0
        let count = try allocations(repeats: 1_000_000) { codec in
            let frame = try codec.decoder.decodeClientFrame(body)
            guard case .castVote(let vote) = frame.request else { return }
            score += vote.direction == .up ? 1 : 0
            let counts = CastVoteResponse(
                postID: vote.postID,
                score: score,
                upvoteCount: 1,
                downvoteCount: 0
            )
            try codec.encoder.append(vote: counts, id: frame.id, revision: 5)
            try codec.encoder.append(
                ServerFrame(id: frame.id, revision: 5, response: .castVote(counts))
            )
            if codec.encoder.byteCount > 60_000 { codec.encoder.removeAll() }
        }
        #expect(count == 0)
        #expect(score == 1_010_000)
    }

    @Test func votesOfClientsAllocateNothing() throws {
        let counts = CastVoteResponse(postID: 1, score: -1, upvoteCount: 1, downvoteCount: 2)
        let body = try Array(
            ServerFrame(id: 9, revision: 5, response: .castVote(counts)).encoded().dropFirst(4)
        )
        let count = try allocations(repeats: 100_000) { codec in
            let frame = try codec.decoder.decodeServerFrame(body)
            guard case .castVote(let counts) = frame.response else { return }
            let vote = CastVoteRequest(postID: counts.postID, direction: .down)
            try codec.encoder.append(ClientFrame(id: frame.id, request: .castVote(vote)))
            if codec.encoder.byteCount > 60_000 { codec.encoder.removeAll() }
        }
        #expect(count == 0)
    }

    @Test func pagesOfFieldsAllocateNothing() throws {
        let (posts, texts) = FieldsSample.posts(count: 100)
        let page = ListPostsFields(firstRank: 1, totalSize: 100)
        let count = try allocations(repeats: 1000) { codec in
            try codec.encoder.append(
                page: page,
                posts: posts.span,
                texts: texts.span,
                id: 1,
                revision: 2
            )
            codec.encoder.removeAll()
        }
        #expect(count == 0)
    }

    @Test func pagesOfEncodedPostsAllocateNothing() throws {
        var (posts, texts) = FieldsSample.posts(count: 100)
        for index in posts.indices { posts[index].viewer = nil }
        let encoded = EncodedPosts(posts.span, texts: texts.span)
        let viewers = posts.map {
            Viewer(vote: $0.id.rawValue.isMultiple(of: 2) ? .up : .unspecified)
        }
        let page = ListPostsFields(firstRank: 1, totalSize: 100)
        let count = try allocations(repeats: 1000) { codec in
            try codec.encoder.append(
                page: page,
                posts: encoded,
                viewers: viewers.span,
                texts: texts.span,
                id: 1,
                revision: 2
            )
            codec.encoder.removeAll()
        }
        #expect(count == 0)
    }

    /// The control: the count sees a single allocation.
    @Test func seesAllocations() throws {
        var kept: [[UInt8]] = []
        kept.reserveCapacity(20_000)
        let count = allocations(repeats: 10) { _ in
            kept.append([UInt8](repeating: 1, count: kept.count + 1))
        }
        #expect(count == 10)
    }
}
