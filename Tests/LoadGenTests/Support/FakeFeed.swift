import FeedProto
import Synchronization

/// A feed in memory that counts votes right, or wrong in one chosen way.
final class FakeFeed: Sendable {
    /// What goes wrong; the numbers count votes.
    struct Faults: Sendable {
        /// Every vote of this number is acknowledged and forgotten.
        var dropEvery: UInt64?
        /// Every vote of this number counts twice and is acknowledged once.
        var doubleEvery: UInt64?
        /// Every vote of this number is answered with an error although it counted.
        var failCountedEvery: UInt64?
        /// Every vote of this number is answered with an error and did not count.
        var failEvery: UInt64?
        /// The answer to this vote gets the id of the next.
        var misnumberAt: UInt64?
        /// With this vote the service dies.
        var dieAt: UInt64?
        /// From this vote on answers are held back for a while.
        var stallAt: UInt64?
        /// Answers to votes on are never sent from this vote on.
        var silentFrom: UInt64?
    }

    private struct State {
        var posts: [UInt64: Post] = [:]
        var voteCount: UInt64 = 0
        var nextID: UInt64 = 1
    }

    /// What to do with an answer.
    enum Action {
        case answer(ServerFrame)
        case answerAndStall(ServerFrame)
        case silence
        case die
    }

    let faults: Faults
    let voteMode: VoteMode
    private let state = Mutex(State())

    init(faults: Faults, voteMode: VoteMode) {
        self.faults = faults
        self.voteMode = voteMode
    }

    /// How many votes came.
    var voteCount: UInt64 { state.withLock(\.voteCount) }

    /// The scores of all posts by id.
    var scores: [Int64] {
        state.withLock { state in state.posts.sorted { $0.key < $1.key }.map(\.value.score) }
    }

    func handle(_ frame: ClientFrame) -> Action {
        state.withLock { state in
            switch frame.request {
            case .castVote(let vote): return cast(vote, frame.id, &state)
            case let request:
                return .answer(Self.answer(request, frame.id, voteMode, &state))
            }
        }
    }

    private func cast(_ vote: CastVoteRequest, _ id: UInt64, _ state: inout State) -> Action {
        state.voteCount += 1
        let number = state.voteCount
        func isDue(_ every: UInt64?) -> Bool { every.map { number % $0 == 0 } ?? false }
        if number == faults.dieAt { return .die }
        let failure = ServerFrame(
            id: id,
            revision: number,
            status: Status(code: .resourceExhausted, reason: .overloaded, message: "Too much.")
        )
        if isDue(faults.failEvery) { return .answer(failure) }
        guard var post = state.posts[vote.postID] else { return .answer(Self.notFound(id)) }
        post.score += isDue(faults.doubleEvery) ? 2 : 1
        let answered = post.score
        if isDue(faults.dropEvery) { post.score -= 1 }
        state.posts[vote.postID] = post
        if isDue(faults.failCountedEvery) { return .answer(failure) }
        if let silentFrom = faults.silentFrom, number >= silentFrom { return .silence }
        let frame = ServerFrame(
            id: id + (number == faults.misnumberAt ? 1 : 0),
            revision: number,
            response: .castVote(
                CastVoteResponse(
                    postID: post.id,
                    score: answered,
                    upvoteCount: UInt64(answered),
                    downvoteCount: 0,
                    vote: .up
                )
            )
        )
        return number == faults.stallAt ? .answerAndStall(frame) : .answer(frame)
    }

    private static func answer(
        _ request: FeedProto.Request?,
        _ id: UInt64,
        _ voteMode: VoteMode,
        _ state: inout State
    ) -> ServerFrame {
        switch request {
        case .hello:
            let hello = HelloResponse(
                serverName: "fake",
                instanceID: 1,
                serverTimeMilliseconds: 0,
                limits: nil
            )
            return ServerFrame(id: id, revision: 0, response: .hello(hello))
        case .listFeeds:
            let feed = Feed(name: "posts", voteMode: voteMode)
            return ServerFrame(
                id: id,
                revision: 0,
                response: .listFeeds(ListFeedsResponse(feeds: [feed]))
            )
        case .createPost(let create):
            guard var post = create.post else { return notFound(id) }
            post.id = state.nextID
            post.createTimeMilliseconds = 1_000_000 + Int64(post.id)
            state.nextID += 1
            state.posts[post.id] = post
            return ServerFrame(id: id, revision: 0, response: .post(post))
        case .getPost(let get):
            guard let post = state.posts[get.id] else { return notFound(id) }
            return ServerFrame(id: id, revision: 0, response: .post(post))
        case .batchGetPosts(let batch):
            let response = BatchGetPostsResponse(
                posts: batch.ids.compactMap { state.posts[$0] },
                missingIDs: batch.ids.filter { state.posts[$0] == nil }
            )
            return ServerFrame(id: id, revision: 0, response: .batchGetPosts(response))
        case .listPosts(let list):
            return ServerFrame(id: id, revision: 0, response: .listPosts(page(list, state)))
        default:
            let response = PingResponse(payload: [], serving: .serving)
            return ServerFrame(id: id, revision: 0, response: .ping(response))
        }
    }

    /// The token is the number of posts before the page, in four bytes.
    private static func page(_ list: ListPostsRequest, _ state: State) -> ListPostsResponse {
        let start = list.pageToken.reduce(0) { $0 << 8 | Int($1) }
        let ordered = state.posts.values.sorted { one, other in
            if one.score != other.score { return one.score > other.score }
            if one.title != other.title {
                return one.title.utf8.lexicographicallyPrecedes(other.title.utf8)
            }
            return one.id < other.id
        }
        let size = list.pageSize == 0 ? 20 : Int(list.pageSize)
        let page = Array(ordered.dropFirst(start).prefix(size))
        let end = start + page.count
        let token: [UInt8] = (0..<4).reversed().map { UInt8(truncatingIfNeeded: end >> (8 * $0)) }
        return ListPostsResponse(
            posts: page,
            nextPageToken: end < ordered.count ? token : [],
            previousPageToken: [],
            firstRank: UInt64(start + 1),
            totalSize: UInt64(ordered.count)
        )
    }

    private static func notFound(_ id: UInt64) -> ServerFrame {
        ServerFrame(
            id: id,
            revision: 0,
            status: Status(code: .notFound, reason: .postNotFound, message: "No such post.")
        )
    }
}
