import FeedProto
import FeedTransport
import Synchronization

/// The connections of a client, which one thread runs.
///
/// Each has a channel of its own, and a call stays with its connection: it is sent again under its
/// sequence on the same channel. What a caller does in order goes over the first connection: sign-ins,
/// what depends on the caller's last change, and rare calls. The rest takes turns.
final class LinkPool: Sendable {
    private let loop: ClientLoop
    private let links: [Link]
    private let turn = Atomic<UInt>(0)
    private let sessionChanges = Atomic<UInt64>(0)

    /// Starts the thread; each connection opens with its first call.
    init(to endpoints: [Endpoint], _ configuration: ClientConfiguration) throws(TransportError) {
        let count = max(1, configuration.connectionCount)
        let inboxes = (0..<count).map { _ in CallInbox() }
        let loop = try ClientLoop(to: endpoints, configuration, inboxes)
        self.loop = loop
        links = inboxes.enumerated().map { Link(loop, $0.offset, $0.element) }
    }

    /// How often the client has signed in or out.
    var sessionChangeCount: UInt64 { sessionChanges.load(ordering: .acquiring) }

    /// The connection that opens first.
    var first: Link { links[0] }

    /// Runs tasks on the thread of the connections.
    var executor: LoopExecutor { loop.executor }

    /// The connection for a call.
    func link(for request: Request) -> Link {
        guard links.count > 1, request.takesTurns else { return links[0] }
        let number = turn.wrappingAdd(1, ordering: .relaxed).newValue
        return links[Int(number % UInt(links.count))]
    }

    /// Lets the other connections follow a sign-in or a sign-out on the first one.
    func adopt(sessionToken token: [UInt8]) {
        sessionChanges.wrappingAdd(1, ordering: .acquiringAndReleasing)
        for link in links.dropFirst() { link.adopt(sessionToken: token) }
    }

    /// What the sessions sent again so far; nil once the client is closed.
    func history() async -> ConnectionHistory? {
        var sum = RetryCounts()
        var isConnected = false
        var instanceID: UInt64?
        for link in links {
            guard let history = await link.history() else { return nil }
            sum.add(history.retries)
            isConnected = isConnected || history.isConnected
            instanceID = instanceID ?? history.instanceID
        }
        return ConnectionHistory(retries: sum, instanceID: instanceID, isConnected: isConnected)
    }

    /// Finishes the calls in flight and ends the thread.
    func close() async {
        await loop.close()
    }
}

extension Request {
    /// Whether the call may go over any connection: its answer is the same over each.
    fileprivate var takesTurns: Bool {
        switch self {
        case .castVote, .batchCastVotes, .getPost, .batchGetPosts, .getPostRank: true
        // A stable page shows the last change of its own connection.
        case .listPosts(let request): request.consistency != .stable
        default: false
        }
    }
}
