import Dispatch
import FeedProto
import FeedTestSupport

/// Feeds in memory that count votes right, or wrong in one chosen way.
final class FakeFeed: Sendable {
    typealias Faults = FakeFaults

    /// A page that is served again after votes have changed it.
    struct StalePage {
        private var kept: ListPostsResponse?
        private var servedCount: UInt64 = 0

        mutating func serve(_ page: inout ListPostsResponse, _ count: UInt64) {
            if let kept, servedCount < count {
                page = kept
                servedCount += 1
            } else {
                kept = page
                servedCount = 0
            }
        }
    }

    struct State {
        var stale = StalePage()
        var posts: [PostID: Post] = [:]
        var ballots = FakeBallots()
        /// The keys that connections have shown; empty ones are of connections without a key.
        var serviceKeys: Set<[UInt8]> = []
        var feeds = ["posts"]
        var channels = FakeChannels()
        /// Channels whose next Hello loses its connection.
        var unansweredHellos: Set<FakeChannels.Key> = []
        var instanceID: UInt64 = 1
        var voteCount: UInt64 = 0
        var createCount: UInt64 = 0
        var timedCallCount: UInt64 = 0
        var nextID: UInt64 = 1
        var isMortal = true
        /// Changes answers; nil in a service that does not.
        var mutator: AnswerMutator?
        var deletedIDs: Set<PostID> = []
    }

    enum Action {
        case answer(ServerFrame)
        case answerAndStall(ServerFrame)
        case answerAfterNext(ServerFrame)
        case answerAndLeave(ServerFrame)
        case answerHalf(ServerFrame)
        case silence
        case lose
        case die
    }

    let faults: Faults
    let voteMode: VoteMode
    let state = Locked(State())

    init(faults: Faults, voteMode: VoteMode) {
        self.faults = faults
        self.voteMode = voteMode
        if let (seed, oneIn) = faults.mutation {
            state.withLock { $0.mutator = AnswerMutator(seed: seed, oneIn: oneIn) }
        }
    }

    func sent(_ bytes: [UInt8]) -> [UInt8] { state.withLock { $0.mutator?.frames(bytes) } ?? bytes }

    /// How many votes came.
    var voteCount: UInt64 { state.withLock { $0.voteCount } }

    var scores: [Int64] {
        state.withLock { state in state.posts.sorted { $0.key < $1.key }.map(\.value.score) }
    }

    /// Takes away a counted vote of one post, as a service does that loses what it acknowledged.
    func loseOneVote() {
        state.withLock { state in
            guard let id = state.posts.values.first(where: { $0.score > 0 })?.id else { return }
            state.posts[id]?.score -= 1
            state.posts[id]?.upvoteCount -= 1
        }
    }

    /// Takes away a standing ballot up, as a service does that loses what it acknowledged.
    func loseOneBallot() {
        state.withLock { state in
            guard let post = state.ballots.removeOne() else { return }
            state.posts[post]?.score -= 1
            state.posts[post]?.upvoteCount -= 1
        }
    }

    /// Becomes another instance without any posts.
    func beginAnew() {
        state.withLock { state in
            state = State(instanceID: state.instanceID + 1, isMortal: false)
        }
    }

    /// Starts again after a death: what was counted is still there.
    func restart() {
        if faults.restartsEmpty { beginAnew() }
        state.withLock { $0.isMortal = false }
    }

    func lost(_ channel: FakeChannels.Key?) {
        guard let channel, faults.forgetsChannels || faults.losesHellos else { return }
        state.withLock { state in
            // The loss of an unanswered Hello keeps the channel that the Hello made.
            guard state.unansweredHellos.remove(channel) == nil else { return }
            state.channels.forget(channel)
            if faults.losesHellos { state.unansweredHellos.insert(channel) }
        }
    }

    func handle(_ frame: ClientFrame, on channel: FakeChannels.Key?) -> Action {
        state.withLock { state in
            guard let request = frame.request else { return .silence }
            state.ballots.caller = FakeBallots.Caller(user: frame.actingUserID, channel: channel)
            if frame.sequence > 0, let channel, !faults.ignoresSequences,
                let known = state.channels.outcome(channel, frame.sequence, request)
            {
                guard case .executed(let known) = known, known.contains(0),
                    case .batchCastVotes(let batch) = request
                else { return repeated(known, request, frame.id, &state) }
                // The votes that did not count before count now.
                var ids: [PostID] = []
                let action = cast(batch, frame.id, known: known, &state, &ids)
                state.channels.record(channel, frame.sequence, request, ids: ids)
                return action
            }
            var ids: [PostID] = []
            let action: Action
            if case .castVote(let vote) = request {
                action = cast(vote, frame.id, &state, &ids)
            } else if case .batchCastVotes(let batch) = request {
                action = cast(batch, frame.id, known: nil, &state, &ids)
            } else {
                action = answer(request, frame.id, &state, &ids)
            }
            if frame.sequence > 0, let channel, !ids.isEmpty {
                state.channels.record(channel, frame.sequence, request, ids: ids)
            }
            return action
        }
    }

    /// The answer to a call that came before; votes that are sent again are votes that arrive.
    private func repeated(
        _ known: FakeChannels.Known,
        _ request: FeedProto.Request,
        _ id: UInt64,
        _ state: inout State
    ) -> Action {
        switch (known, request) {
        case (.refused(let reason), _):
            return .answer(Self.failure(id, .failedPrecondition, reason, isNotExecuted: false))
        case (.executed(let ids), .castVote):
            return .answer(voteAnswer(id, state.posts[ids[0]], state))
        case (.executed(let ids), .batchCastVotes(let batch)):
            var same: [PostID] = []
            return cast(batch, id, known: ids, &state, &same)
        case (.executed(let ids), .createPost):
            return .answer(
                ServerFrame(id: id, revision: 0, response: .post(state.posts[ids[0]] ?? Post()))
            )
        case (.executed(let ids), .importPosts):
            return .answer(
                ServerFrame(
                    id: id,
                    revision: 0,
                    response: .importPosts(ImportPostsResponse(ids: ids))
                )
            )
        case (.executed, _):
            return .answer(ServerFrame(id: id, revision: 0, response: .feed(Feed(name: ""))))
        }
    }

    func cast(
        _ vote: CastVoteRequest,
        _ id: UInt64,
        _ state: inout State,
        _ ids: inout [PostID]
    ) -> Action {
        state.voteCount += 1
        let number = state.voteCount
        func isDue(_ every: UInt64?) -> Bool { every.map { number % $0 == 0 } ?? false }
        if state.isMortal, number == faults.dieAt { return .die }
        if isDue(faults.loseBeforeEvery) { return .lose }
        let failure = Self.failure(id, .resourceExhausted, .overloaded, isNotExecuted: true)
        if isDue(faults.failEvery) { return .answer(failure) }
        guard var post = state.posts[vote.postID] else {
            return .answer(Self.failure(id, .notFound, .postNotFound, isNotExecuted: true))
        }
        if voteMode == .ballot, let reason = state.ballots.refusal(faults) {
            return .answer(Self.failure(id, .permissionDenied, reason, isNotExecuted: true))
        }
        let before = (post, state.ballots)
        let count: Int64 = isDue(faults.doubleEvery) ? 2 : 1
        if voteMode == .ballot {
            state.ballots.cast(vote.direction, count, on: &post)
        } else {
            post.add(vote.direction, count)
        }
        state.ballots.isAnswerWrong = isDue(faults.wrongBallotEvery)
        var told = post
        if number == faults.misdirectAt { told.id = told.id.advanced(by: 1) }
        let frame = voteAnswer(id + (number == faults.misnumberAt ? 1 : 0), told, state)
        state.posts[vote.postID] = post
        if isDue(faults.dropEvery) { (state.posts[vote.postID], state.ballots) = before }
        ids = [post.id]
        if isDue(faults.failCountedEvery) { return .answer(failure) }
        if let silentFrom = faults.silentFrom, number >= silentFrom { return .silence }
        if isDue(faults.silentEvery) { return .silence }
        if isDue(faults.loseAfterEvery) { return .lose }
        if isDue(faults.cutEvery) { return .answerHalf(frame) }
        if number == faults.passAt { return .answerAfterNext(frame) }
        if number == faults.leaveAt { return .answerAndLeave(frame) }
        return number == faults.stallAt ? .answerAndStall(frame) : .answer(frame)
    }

    func voteAnswer(_ id: UInt64, _ post: Post?, _ state: State) -> ServerFrame {
        let post = post ?? Post()
        return ServerFrame(
            id: id,
            revision: state.voteCount,
            response: .castVote(
                CastVoteResponse(
                    postID: post.id,
                    score: post.score,
                    upvoteCount: post.upvoteCount,
                    downvoteCount: post.downvoteCount,
                    vote: voteMode == .ballot ? state.ballots.answer(on: post.id) : .up
                )
            )
        )
    }

    static func failure(
        _ id: UInt64,
        _ code: StatusCode,
        _ reason: Reason,
        isNotExecuted: Bool
    ) -> ServerFrame {
        let status = Status(
            code: code,
            reason: reason,
            message: "Refused.",
            isNotExecuted: isNotExecuted
        )
        return ServerFrame(id: id, revision: 0, status: status)
    }
}

extension Post {
    mutating func add(_ direction: VoteDirection, _ count: Int64) {
        if direction == .down {
            downvoteCount = UInt64(Int64(downvoteCount) + count)
            score -= count
        } else {
            upvoteCount = UInt64(Int64(upvoteCount) + count)
            score += count
        }
    }
}

extension FakeFeed {
    /// Counts the votes of a batch in order, each right or wrong as a vote alone.
    ///
    /// `known` are the posts of the votes that counted in an earlier send, 0 for one that did not, and
    /// nil for a batch that was not sent before; `ids` gets the same of this send.
    func cast(
        _ batch: BatchCastVotesRequest,
        _ id: UInt64,
        known: [PostID]?,
        _ state: inout State,
        _ ids: inout [PostID]
    ) -> Action {
        var results: [CastVoteResult] = []
        var end: Action?
        ids = known ?? batch.votes.map { _ in 0 }
        for (item, vote) in batch.votes.enumerated() {
            if ids[item] > 0 {
                results.append(result(of: voteAnswer(id, state.posts[ids[item]], state)))
                continue
            }
            var counted: [PostID] = []
            let action = cast(vote, id, &state, &counted)
            if let post = counted.first { ids[item] = post }
            switch action {
            case .answer where state.voteCount == faults.emptyResultAt:
                results.append(CastVoteResult(status: nil, vote: nil))
            case .answer(let frame): results.append(result(of: frame))
            default: end = end ?? action
            }
        }
        // What befalls one vote befalls the whole answer.
        return end
            ?? .answer(
                ServerFrame(
                    id: id,
                    revision: state.voteCount,
                    response: .batchCastVotes(BatchCastVotesResponse(results: results))
                )
            )
    }

    private func result(of frame: ServerFrame) -> CastVoteResult {
        guard case .castVote(let vote) = frame.response else {
            return CastVoteResult(status: frame.status, vote: nil)
        }
        return CastVoteResult(status: nil, vote: vote)
    }
}

extension FakeFeed {
    /// Answers a call that is no vote; `ids` are what it made.
    func answer(
        _ request: FeedProto.Request,
        _ id: UInt64,
        _ state: inout State,
        _ ids: inout [PostID]
    ) -> Action {
        switch request {
        case .hello(let hello):
            state.serviceKeys.insert(hello.serviceKey)
            // The load comes after its posts.
            if faults.greetsWithPing, !state.posts.isEmpty {
                return .answer(frame(id, .ping(PingResponse(payload: [], serving: .serving))))
            }
            let answer = answerHello(hello, &state)
            let key = FakeChannels.Key(clientID: hello.clientID, channel: hello.channel)
            return state.unansweredHellos.contains(key) ? .lose : .answer(frame(id, .hello(answer)))
        case .listFeeds:
            let feeds = state.feeds.map { Feed(name: $0, voteMode: voteMode) }
            return .answer(frame(id, .listFeeds(ListFeedsResponse(feeds: feeds))))
        case .createFeed(let create):
            guard let feed = create.feed else { return notFound(id) }
            guard !faults.refusesFeeds else {
                return .answer(
                    Self.failure(id, .permissionDenied, .serviceOnly, isNotExecuted: true)
                )
            }
            guard !state.feeds.contains(feed.name) else {
                return .answer(Self.failure(id, .alreadyExists, .feedExists, isNotExecuted: true))
            }
            state.feeds.append(feed.name)
            ids = [PostID(rawValue: UInt64(state.feeds.count))]
            return .answer(frame(id, .feed(feed)))
        case .createPost(let create):
            guard var post = create.post else { return notFound(id) }
            if let refusal = faults.refusal {
                let status = Status(
                    code: .invalidArgument,
                    reason: Reason(rawValue: refusal),
                    message: refusal,
                    isNotExecuted: true
                )
                return .answer(ServerFrame(id: id, revision: 0, status: status))
            }
            post.createTimeMilliseconds = Self.startMilliseconds
            ids = [make(post, in: create.feed, &state)]
            return isFatal(&state) ?? .answer(frame(id, .post(state.posts[ids[0]] ?? post)))
        case .importPosts(let posts):
            ids = posts.posts.map { make($0, in: posts.feed, &state) }
            let response = ImportPostsResponse(ids: ids)
            return isFatal(&state) ?? .answer(frame(id, .importPosts(response)))
        case .deletePost(let delete):
            if state.posts.removeValue(forKey: delete.id) != nil {
                state.deletedIDs.insert(delete.id)
            }
            return .answer(frame(id, .empty))
        case .getPost(let get):
            guard let post = state.posts[get.id] else { return notFound(id) }
            return .answer(frame(id, .post(post)))
        case .batchGetPosts(let batch):
            let response = BatchGetPostsResponse(
                posts: batch.ids.compactMap { state.posts[$0] }.map(told),
                missingIDs: batch.ids.filter { state.posts[$0] == nil }
            )
            return .answer(frame(id, .batchGetPosts(response)))
        case .listPosts(let list):
            var page = Self.page(list, state)
            if let count = faults.staleCount { state.stale.serve(&page, count) }
            if faults.repeatsPages { page.nextPageToken = [0, 0, 0, 0] }
            if faults.makesUpPosts { Self.makeUpPosts(list, &page) }
            return .answer(frame(id, .listPosts(page)))
        default:
            return .answer(frame(id, .ping(PingResponse(payload: [], serving: .serving))))
        }
    }

    private func told(_ post: Post) -> Post {
        var post = post
        post.score = faults.readScore ?? post.score
        return post
    }

    private func answerHello(_ hello: HelloRequest, _ state: inout State) -> HelloResponse {
        let key = FakeChannels.Key(clientID: hello.clientID, channel: hello.channel)
        let (isKnown, lastSequence) = hello.clientID.isEmpty ? (false, 0) : state.channels.open(key)
        return HelloResponse(
            serverName: "fake",
            instanceID: state.instanceID,
            serverTimeMilliseconds: faults.clock ?? Self.startMilliseconds,
            limits: nil,
            capabilities: faults.lacksExactlyOnce ? [] : [.exactlyOnce],
            isClientKnown: isKnown,
            lastSequence: lastSequence
        )
    }

    private func make(_ post: Post, in feed: String, _ state: inout State) -> PostID {
        var post = post
        post.id = PostID(rawValue: state.nextID)
        post.feed = feed
        state.nextID += 1
        state.createCount += 1
        state.posts[post.id] = post
        return post.id
    }

    private func isFatal(_ state: inout State) -> Action? {
        if state.isMortal, state.createCount == faults.dieAtCreate { return .die }
        return faults.loseCreateEvery.flatMap { state.createCount % $0 == 0 ? .lose : nil }
    }

    /// The token is the number of posts before the page, in four bytes.
    private static func page(_ list: ListPostsRequest, _ state: State) -> ListPostsResponse {
        let start = start(list)
        let all = state.posts.values.filter { list.feed.isEmpty || $0.feed == list.feed }
        let ordered = all.sorted { one, other in
            if one.score != other.score { return one.score > other.score }
            if one.title != other.title {
                return one.title.utf8.lexicographicallyPrecedes(other.title.utf8)
            }
            return one.id < other.id
        }
        let size = list.pageSize == 0 ? 20 : Int(list.pageSize)
        let page = Array(ordered.dropFirst(start).prefix(size))
        let end = start + page.count
        return ListPostsResponse(
            posts: page,
            nextPageToken: end < ordered.count ? token(end) : [],
            previousPageToken: [],
            firstRank: UInt64(start + 1),
            totalSize: UInt64(ordered.count)
        )
    }

    private static func start(_ list: ListPostsRequest) -> Int {
        list.pageToken.reduce(0) { $0 << 8 | Int($1) }
    }

    private static func token(_ start: Int) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: start >> (8 * $0)) }
    }

    private static func makeUpPosts(_ list: ListPostsRequest, _ page: inout ListPostsResponse) {
        let places = start(list)..<start(list) + 100
        page.posts = places.map {
            Post(id: PostID(rawValue: UInt64(1_000_000 + $0)), feed: list.feed, title: "x")
        }
        page.nextPageToken = token(places.upperBound)
    }

    private func frame(_ id: UInt64, _ response: Response) -> ServerFrame {
        ServerFrame(id: id, revision: 0, response: response)
    }

    private func notFound(_ id: UInt64) -> Action {
        .answer(Self.failure(id, .notFound, .postNotFound, isNotExecuted: true))
    }

    /// The service's clock stands still.
    private static let startMilliseconds: Int64 = 1_000_000
}

extension FakeFeed {
    /// The instant now on the monotonic clock, which the load generator reads too.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    var timedCallCount: UInt64 { state.withLock { $0.timedCallCount } }

    /// Handles a call that was read at an instant, and adds the times where it asks for them.
    func handle(
        _ frame: ClientFrame,
        on channel: FakeChannels.Key?,
        receivedAt received: UInt64
    ) -> Action {
        guard frame.isTimed else { return handle(frame, on: channel) }
        state.withLock { $0.timedCallCount += 1 }
        let action: Action
        if faults.timed == .refused {
            let refusal = Self.failure(
                frame.id,
                .resourceExhausted,
                .overloaded,
                isNotExecuted: true
            )
            action = .answer(refusal)
        } else {
            action = handle(frame, on: channel)
        }
        if faults.timed == .lost { return .lose }
        let times = faults.timed == .noTimes ? nil : times(receivedAt: received)
        return action.map { spoiled($0, times) }
    }

    private func times(receivedAt received: UInt64) -> CallTimes {
        let offset: UInt64 = faults.timed == .otherClock ? 1 << 60 : 0
        return CallTimes(
            receivedNanoseconds: received + offset,
            executedNanoseconds: Self.now + offset,
            releasedNanoseconds: Self.now + offset
        )
    }

    private func spoiled(_ answer: ServerFrame, _ times: CallTimes?) -> ServerFrame {
        var frame = answer
        frame.times = times
        switch frame.response {
        case .castVote(let vote):
            frame.response = .castVote(spoiled(vote))
        case .batchCastVotes(var batch):
            for index in batch.results.indices {
                batch.results[index].vote = batch.results[index].vote.map { spoiled($0) }
            }
            frame.response = .batchCastVotes(batch)
        default: break
        }
        return frame
    }

    private func spoiled(_ answer: CastVoteResponse) -> CastVoteResponse {
        var vote = answer
        switch faults.timed {
        case .otherPost?: vote.postID = vote.postID.advanced(by: 1)
        case .lowScore?: vote.score = 0
        case .otherBallot?: vote.vote = vote.vote == .up ? .down : .up
        case nil, .noTimes?, .otherClock?, .refused?, .lost?: break
        }
        return vote
    }
}

extension FakeFeed.Action {
    /// The same with another answer.
    fileprivate func map(_ change: (ServerFrame) -> ServerFrame) -> Self {
        switch self {
        case .answer(let frame): .answer(change(frame))
        case .answerAfterNext(let frame): .answerAfterNext(change(frame))
        case .answerAndStall(let frame): .answerAndStall(change(frame))
        case .answerAndLeave(let frame): .answerAndLeave(change(frame))
        case .answerHalf(let frame): .answerHalf(change(frame))
        case .silence, .lose, .die: self
        }
    }
}
