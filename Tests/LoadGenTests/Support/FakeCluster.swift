import FeedProto
import FeedTestSupport

/// Fake services of which one leads, and another one from time to time.
final class FakeCluster: Sendable {
    private struct State {
        var addresses: [String] = []
        var leader: Int
        var voteCount = 0
        var moveCount = 0
        var helloCount = 0
    }

    /// One of the services.
    struct Member: Sendable {
        let cluster: FakeCluster
        let place: Int
    }

    private let state: Locked<State>
    /// With each vote of this number another service leads; nil is never.
    private let moveEvery: Int?
    /// Whether the services say who leads.
    private let namesLeader: Bool
    /// So many Hellos come before a service leads.
    private let electionHelloCount: Int

    init(
        leader: Int,
        moveEvery: Int? = nil,
        namesLeader: Bool = true,
        electionHelloCount: Int = 0
    ) {
        state = Locked(State(leader: leader))
        self.moveEvery = moveEvery
        self.namesLeader = namesLeader
        self.electionHelloCount = electionHelloCount
    }

    var moveCount: Int { state.withLock { $0.moveCount } }
    var helloCount: Int { state.withLock { $0.helloCount } }

    func begin(_ addresses: [String]) { state.withLock { $0.addresses = addresses } }

    /// Another service leads.
    func move() { state.withLock { Self.move(&$0) } }

    private static func move(_ state: inout State) {
        state.leader = (state.leader + 1) % state.addresses.count
        state.moveCount += 1
    }

    /// Where the leader is, if it is another service than the one at `place`, which has got a call; empty if
    /// that is not known, or none leads.
    fileprivate func otherLeader(than place: Int, isHello: Bool, isVote: Bool) -> String? {
        state.withLock { state in
            if isHello { state.helloCount += 1 }
            if isHello, state.helloCount <= electionHelloCount { return "" }
            if isVote, state.leader == place {
                state.voteCount += 1
                if let moveEvery, state.voteCount % moveEvery == 0 { Self.move(&state) }
            }
            return state.leader == place ? nil : namesLeader ? state.addresses[state.leader] : ""
        }
    }
}

extension FakeCluster.Member {
    /// The answer of a follower to a call that it does not take; nil where the feed answers.
    func refusal(of frame: ClientFrame) -> ServerFrame? {
        var isHello = false
        var isVote = false
        switch frame.request {
        case .hello: isHello = true
        case .castVote, .batchCastVotes: isVote = true
        case .createPost, .createFeed, .importPosts, .deletePost: break
        default: return nil
        }
        guard let leader = cluster.otherLeader(than: place, isHello: isHello, isVote: isVote)
        else { return nil }
        let status = Status(
            code: .unavailable,
            reason: .notLeader,
            message: "A follower.",
            isNotExecuted: true,
            leader: leader
        )
        guard isHello else { return ServerFrame(id: frame.id, revision: 0, status: status) }
        let hello = HelloResponse(
            serverName: "fake",
            instanceID: 0,
            serverTimeMilliseconds: 0,
            limits: nil,
            channelStatus: status,
            role: .follower
        )
        return ServerFrame(id: frame.id, revision: 0, response: .hello(hello))
    }

    /// The answer with what the service is, where it is one to Hello.
    func marked(_ answer: ServerFrame) -> ServerFrame {
        guard case .hello(var hello) = answer.response else { return answer }
        hello.role = .leader
        return ServerFrame(id: answer.id, revision: answer.revision, response: .hello(hello))
    }
}
