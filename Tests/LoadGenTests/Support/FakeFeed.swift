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
        var posts: [UInt64: Post] = [:]
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
        /// How many calls asked for times.
        var timedCallCount: UInt64 = 0
        var nextID: UInt64 = 1
        var isMortal = true
        /// Changes answers; nil in a service that does not.
        var mutator: AnswerMutator?
        /// Posts that were deleted.
        var deletedIDs: Set<UInt64> = []
    }

    /// What to do with an answer.
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

    /// The bytes of answers as they leave.
    func sent(_ bytes: [UInt8]) -> [UInt8] {
        state.withLock { $0.mutator?.frames(bytes) } ?? bytes
    }

    /// How many votes came.
    var voteCount: UInt64 { state.withLock { $0.voteCount } }

    /// The scores of all posts by id.
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

    /// A connection ended.
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
                var ids: [UInt64] = []
                let action = cast(batch, frame.id, known: known, &state, &ids)
                state.channels.record(channel, frame.sequence, request, ids: ids)
                return action
            }
            var ids: [UInt64] = []
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
            var same: [UInt64] = []
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
        _ ids: inout [UInt64]
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
        if number == faults.misdirectAt { told.id += 1 }
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
