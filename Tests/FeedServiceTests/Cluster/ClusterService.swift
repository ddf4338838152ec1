import FakeReplica
import FeedCalls
import FeedConcurrency
import FeedJournal
import FeedLog
import FeedProto
import FeedRanking
import FeedReplica
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Logging
import Testing

/// The state of a service that is one of a cluster's, with its replica: a test moves the log.
final class ClusterService: Sendable {
    /// Where clients reach the service.
    static let address = "feed1.example.org:7433"
    static let clientID = [UInt8](repeating: 7, count: 16)

    let cluster: FakeCluster
    /// Writes the log while another node leads.
    let other: OtherLeader
    let replica: FakeReplica
    private let options: StateOptions
    private let directory: Transferred<TemporaryDirectory>

    /// Makes a state, and a cluster of it, which this node leads or another one.
    ///
    /// Its log has come to a level: a cluster of an earlier release begins with a lower one.
    init(leads: Bool, level: UInt32 = RecordHead.firstLevel) async throws {
        let directory = try TemporaryDirectory()
        var options = StateOptions(path: directory.path, logCount: 1)
        options.journal.space.ballastByteCount = 1 << 20
        let ofOneMachine = options
        try await withService {
            $0.state = ofOneMachine
        } _: { _ in
        }
        let last = try ClusterBeginning.run(StateDirectory(options)).last
        if level != RecordHead.firstLevel {
            let files = try POSIXFiles(path: directory.path)
            let database = try StateDatabase(directory: directory.path, files: files)
            try database.update { $0.chain = RecordChain(after: last, level: level) }
        }
        let instanceID = try StateVerification.run(path: directory.path).instanceID
        cluster = FakeCluster(
            ClusterID(high: instanceID, low: 0),
            behind: last.number,
            leader: leads ? 1 : FakeCluster.otherNode
        )
        other = OtherLeader(of: cluster, after: last)
        replica = try FakeReplica(in: cluster)
        try replica.start()
        options.replica = ReplicaOptions(socketPath: replica.socketPath, address: Self.address)
        self.options = options
        self.directory = Transferred(directory)
    }

    /// The service's data directory.
    var path: String { options.path }

    /// Runs the service while `body` runs on a thread of its own; the fake replica has no complaint.
    func run(
        logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
        _ configure: (inout ServiceConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (Running) throws -> Void
    ) async throws {
        var configuration = ServiceConfiguration(
            addresses: [.loopback(port: 0)],
            threadCount: 1
        )
        configuration.state = options
        configuration.limits.drainTimeout = .seconds(1)
        configure(&configuration)
        ProcessSetup.ignoreBrokenPipes()
        let server = try FeedServer.start(configuration, logger: logger)
        let running = Running(
            port: try #require(server.addresses.first?.port),
            adminPort: server.adminAddress?.port
        )
        server.onFailure { running.end($0) }
        var failure: (any Error)?
        do { try await offload { try body(running) } } catch { failure = error }
        try await server.drain()
        if let failure { throw failure }
        #expect(cluster.violations == [])
    }

    /// A service that runs.
    final class Running: Sendable {
        let port: UInt16
        let adminPort: UInt16?
        private let status = Locked<Int32?>(nil)
        private let hasEnded = DispatchSemaphore(value: 0)

        fileprivate init(port: UInt16, adminPort: UInt16?) {
            self.port = port
            self.adminPort = adminPort
        }

        fileprivate func end(_ status: Int32) {
            self.status.withLock { $0 = status }
            hasEnded.signal()
        }

        /// Waits until the process should end, and gives the status.
        func awaitEnd() -> Int32? {
            hasEnded.wait()
            return status.withLock { $0 }
        }

        func connect() throws -> WireClient { try WireClient(port: port) }

        /// A connection that said Hello with the client's id, and what was answered.
        func greet(channel: UInt32 = 0) throws -> (WireClient, HelloResponse) {
            let client = try connect()
            let answer = try client.hello(clientID: clientID, channel: channel)
            guard case .hello(let hello) = answer.response else { throw Unexpected(answer) }
            return (client, hello)
        }

        /// Waits until the service leads.
        func awaitLeadership() throws {
            while true {
                let answer = try connect().hello()
                guard case .hello(let hello) = answer.response else { throw Unexpected(answer) }
                if hello.role == .leader { return }
            }
        }

        /// Calls until the answer is of a kind, and gives that.
        func call(
            _ request: Request,
            until isWanted: (ServerFrame) -> Bool
        ) throws -> ServerFrame {
            let client = try connect()
            while true {
                let answer = try client.call(request)
                if isWanted(answer) { return answer }
            }
        }

        /// Waits until the log shows a post.
        func awaitPost(_ id: PostID) throws {
            _ = try call(.getPost(GetPostRequest(id: id))) { $0.status == nil }
        }
    }
}

/// Writes records of a cluster's log, as a leader that has no ``FakeReplica``.
final class OtherLeader: Sendable {
    private struct State {
        var chain: RecordChain
        /// The last record that the chain has.
        var last: UInt64
        var body: [UInt8] = []
    }

    private static let firstID: UInt64 = 1 << 28
    private static let firstRevision: UInt64 = 1 << 40

    private let cluster: FakeCluster
    private let store = FeedStore(stripeCount: 16) { SystemClock.unixMilliseconds() }
    private let logs: ChangeLogs
    private let state: Locked<State>

    init(of cluster: FakeCluster, after last: JournalPosition) {
        self.cluster = cluster
        logs = ChangeLogs(count: 1, firstBatch: last.number + 1) {}
        state = Locked(State(chain: RecordChain(after: last), last: last.number))
    }

    /// Begins with the numbers of a new run.
    func begin() throws {
        try store.apply(.counters(lastID: Self.firstID, revision: Self.firstRevision))
        try write { _, changes in
            changes.append(lastID: Self.firstID, revision: Self.firstRevision)
        }
    }

    /// Appends a record of what the body changes.
    func write(_ body: (FeedStore, ChangeLog) throws -> Void) throws {
        let changes = logs[0]
        try changes.transaction { try body(store, changes) }
        try state.withLock { state in
            for entry in cluster.log where entry.index > state.last {
                _ = try state.chain.take(entry.body.span, record: entry.index)
                state.last = entry.index
            }
            let zeroCount = state.chain.headByteCount
            let batch = try #require(logs.takeBatch(into: &state.body, after: zeroCount))
            state.chain.seal(
                &state.body,
                entryCount: batch.entryCount,
                at: SystemClock.unixMicroseconds()
            )
            cluster.append(state.body)
        }
    }

    /// Creates a post in a record of its own; returns its id and the revision.
    func createPost(title: String) throws -> (id: PostID, revision: UInt64) {
        var page = PostPage()
        try write { store, changes in
            let feed = try #require(store.feed(named: FeedPolicy.posts.name))
            try store.createPost(
                PostContent(title: title),
                in: feed,
                sink: changes,
                into: &page
            )
        }
        return (page.rows[0].id, store.revision)
    }

    /// Casts a vote as the client's call with a sequence, on channel 0; the record has the channel, too.
    func castVote(_ id: PostID, sequence: UInt64) throws {
        let device = try #require(Device16(clientID: ClusterService.clientID))
        let request = Request.castVote(CastVoteRequest(postID: id, direction: .up))
        let frame = ClientFrame(id: 1, request: request, sequence: sequence)
        var decoder = MessageDecoder(maximumFrameByteCount: 1 << 20)
        let hash = try frame.encoded().withRawSpan(droppingFirst: 4) { body in
            Result { () throws(MessageError) in try decoder.decodeCall(body).contentHash }
        }.get()
        try write { store, changes in
            let channel = ChannelState(
                number: 1 << 20,
                clientHigh: device.high,
                clientLow: device.low,
                channel: 0
            )
            changes.append(channel)
            _ = try store.castVote(id, .up, sink: changes)
            changes.append(
                ChannelOutcome(
                    channel: channel.number,
                    sequence: sequence,
                    requestHash: hash,
                    outcome: .done
                )
            )
        }
    }
}
