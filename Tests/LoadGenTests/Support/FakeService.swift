import FeedProto
import FeedTestSupport
import FeedTransport
import Foundation
import LoadGen
import LoadGenCommand
import Testing

/// A service on a port of its own that serves one fake feed from one loop.
final class FakeService: Sendable {
    let feed: FakeFeed
    let address: SocketAddress
    private let thread: Locked<EventLoopThread>
    /// Nobody else gets the port of a service that has ended.
    private let port: ReservedPort

    private init(_ feed: FakeFeed, member: FakeCluster.Member? = nil) async throws {
        self.feed = feed
        port = try ReservedPort()
        let (address, thread) = try await Self.listen(
            .loopback(port: port.number),
            feed,
            member
        )
        self.address = address
        self.thread = Locked(thread)
    }

    /// Starts a service and waits until it listens.
    static func start(
        _ faults: FakeFaults = FakeFaults(),
        voteMode: VoteMode = .tally
    ) async throws -> FakeService {
        let feed = FakeFeed(faults: faults, voteMode: voteMode)
        let service = try await FakeService(feed)
        if faults.restarts { service.restartOnce() }
        return service
    }

    /// Starts a service anew that has what another one had.
    static func start(serving feed: FakeFeed) async throws -> FakeService {
        feed.restart()
        return try await FakeService(feed)
    }

    /// Starts the services of a cluster, which serve one feed.
    static func start(_ faults: FakeFaults, cluster: FakeCluster) async throws -> [FakeService] {
        let feed = FakeFeed(faults: faults, voteMode: .tally)
        var services: [FakeService] = []
        for place in 0..<3 {
            let member = FakeCluster.Member(cluster: cluster, place: place)
            services.append(try await FakeService(feed, member: member))
        }
        cluster.begin(services.map { "\($0.address)" })
        return services
    }

    func stop() async {
        let thread = thread.withLock { $0 }
        thread.stop()
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }

    /// Starts the service again at its port once its thread has ended.
    private func restartOnce() {
        thread.withLock { $0 }.whenFinished { [self] in
            feed.restart()
            Task {
                do {
                    let thread = try await Self.listenAgain(address, feed)
                    self.thread.withLock { $0 = thread }
                } catch {
                    Issue.record(error, "The fake service did not start again.")
                }
            }
        }
    }

    /// Listens where a listener was just closed.
    ///
    /// A process that some test starts meanwhile has copies of all sockets until it runs its program,
    /// the closed one among them. The port is in use until then.
    private static func listenAgain(
        _ address: SocketAddress,
        _ feed: FakeFeed
    ) async throws -> EventLoopThread {
        for _ in 1..<10_000 {
            do {
                return try await listen(address, feed).1
            } catch TransportError.addressInUse {
                await Task.yield()
            }
        }
        return try await listen(address, feed).1
    }

    private static func listen(
        _ address: SocketAddress,
        _ feed: FakeFeed,
        _ member: FakeCluster.Member? = nil
    ) async throws -> (SocketAddress, EventLoopThread) {
        let held = Locked<EventLoopThread?>(nil)
        var isListening = false
        defer { if !isListening { held.withLock { $0 }?.stop() } }
        let address: SocketAddress = try await withCheckedThrowingContinuation { continuation in
            do {
                let thread = try EventLoopThread(
                    name: "fake-service",
                    configuration: TransportConfiguration(),
                    budget: BufferBudget()
                ) { loop in
                    continuation.resume(
                        with: Result {
                            try TCPListener(at: address, on: loop, targets: [loop.mailbox]) {
                                FakeHandler(feed, $0, member)
                            }.address
                        }
                    )
                }
                held.withLock { $0 = thread }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        guard let thread = held.withLock({ $0 }) else { throw TransportError.timedOut }
        isListening = true
        return (address, thread)
    }
}

private final class FakeHandler: ConnectionHandler {
    private let feed: FakeFeed
    private let loop: EventLoop
    /// What its service is in a cluster; nil where there is none.
    private let member: FakeCluster.Member?
    private var channel: FakeChannels.Key?
    private var decoder = MessageDecoder()
    private var encoder = FrameEncoder()
    private var isStalled = false
    /// The answer that comes after the refusal of the next vote.
    private var passed: ServerFrame?
    private var isLost = false

    init(_ feed: FakeFeed, _ connection: TCPConnection, _ member: FakeCluster.Member?) {
        self.feed = feed
        self.member = member
        loop = connection.loop
    }

    func connectionOpened(_ connection: TCPConnection) {}

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        let received = FakeFeed.now
        var offset = 0
        do {
            while !isStalled, !isLost,
                let body = try FrameScanner().nextBody(in: bytes, at: offset)
            {
                offset = body.upperBound
                let frame = try decoder.decodeClientFrame(bytes.extracting(body))
                if case .hello(let hello) = frame.request {
                    channel = FakeChannels.Key(clientID: hello.clientID, channel: hello.channel)
                }
                if let passed, case .castVote = frame.request {
                    self.passed = nil
                    let refusal = FakeFeed.failure(
                        frame.id,
                        .unavailable,
                        .overloaded,
                        isNotExecuted: true
                    )
                    try encoder.append(refusal)
                    try encoder.append(passed)
                    continue
                }
                if let refusal = member?.refusal(of: frame) {
                    try encoder.append(refusal)
                    continue
                }
                let action = feed.handle(frame, on: channel, receivedAt: received)
                if case .answer(let answer) = action, let member {
                    try encoder.append(member.marked(answer))
                } else {
                    try perform(action, connection)
                }
            }
        } catch {
            connection.reset()
        }
        flush(connection)
        if isLost { connection.closeAfterFlush() }
        return ReadProgress(consumedByteCount: isLost ? bytes.byteCount : offset)
    }

    func connectionEndedInput(_ connection: TCPConnection) { connection.closeAfterFlush() }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) { feed.lost(channel) }

    private func flush(_ connection: TCPConnection) {
        var bytes: [UInt8] = []
        encoder.withBytes { bytes.append(copying: $0) }
        connection.write(feed.sent(bytes))
        encoder.removeAll()
    }

    private func perform(_ action: FakeFeed.Action, _ connection: TCPConnection) throws {
        switch action {
        case .silence: break
        case .answerAfterNext(let frame): passed = frame
        case .answer(let frame): try encoder.append(frame)
        case .lose: isLost = true
        case .die:
            member?.cluster.move()
            isLost = true
            loop.stop()
        case .answerHalf(let frame):
            flush(connection)
            try encoder.append(frame)
            encoder.withBytes { connection.write($0.extracting(first: $0.byteCount / 2)) }
            encoder.removeAll()
            isLost = true
        case .answerAndLeave(let frame):
            try encoder.append(frame)
            let goAway = GoAway(lastID: frame.id, drainMilliseconds: 1000, reason: .draining)
            try encoder.append(ServerFrame(id: 0, revision: 0, response: .goAway(goAway)))
            isLost = true
        case .answerAndStall(let frame):
            // Everything behind this answer waits, on this connection, until the timer fires.
            try encoder.append(frame)
            isStalled = true
            try loop.addTimer(after: feed.faults.stall) {
                self.isStalled = false
                connection.requestIteration()
            }
        }
    }
}

/// The configuration that `arguments` ask for, on a machine with two cores.
func configure(_ arguments: [String]) throws -> RunConfiguration {
    try RunConfiguration(Options.reading(arguments), coreCount: 2, isTerminal: false)
}

/// Runs a load against `service` on a thread of its own.
func load(_ service: FakeService, _ arguments: [String]) async throws -> RunReport {
    let configuration = try configure(["--target", "\(service.address)"] + arguments)
    return try await offload { try Run(configuration).execute() }
}

/// Runs a load against a fake service of its own, which has ended then.
func loadFake(
    _ faults: FakeFaults,
    voteMode: VoteMode = .tally,
    _ arguments: [String]
) async throws -> (service: FakeService, result: RunReport) {
    let service = try await FakeService.start(faults, voteMode: voteMode)
    let result = try await load(service, arguments)
    await service.stop()
    return (service, result)
}

/// A short load of votes that every machine finishes.
let shortLoad = ["-n", "5k", "-w", "0", "--clients", "8", "--posts", "50"]

/// Runs `body` with the path of the JSON report of `result`.
func withReport<Value>(
    of result: RunReport,
    _ body: (String) async throws -> Value
) async throws -> Value {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".json")
    try result.json.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    return try await body(file.path())
}

/// Audits the record of a run again.
func verify(_ result: RunReport, _ service: FakeService) async throws -> RunReport {
    try await withReport(of: result) { path in
        let configuration = try configure([
            "--target", "\(service.address)", "--verify-only", path,
        ])
        return try await offload {
            let record = try RunRecord(readingReport: path)
            return try Run(configuration, verifying: record).execute()
        }
    }
}

/// What goes wrong in a fake service; the numbers count votes as they arrive, each send for itself.
struct FakeFaults: Sendable {
    /// Every vote of this number is acknowledged and forgotten.
    var dropEvery: UInt64?
    /// Every vote of this number counts twice and is acknowledged once.
    var doubleEvery: UInt64?
    /// Every vote of this number is answered with an error although it counted.
    var failCountedEvery: UInt64?
    /// Every vote of this number is refused for now and did not count.
    var failEvery: UInt64?
    /// The answer to this vote gets the id of the next.
    var misnumberAt: UInt64?
    /// The answer to this vote is about another post.
    var misdirectAt: UInt64?
    /// With this vote the service dies, before it counts.
    var dieAt: UInt64?
    /// With this created post the service dies, after it was created.
    var dieAtCreate: UInt64?
    /// Every vote of this number loses its connection before it counts.
    var loseBeforeEvery: UInt64?
    /// Every vote of this number loses its connection after it counted.
    var loseAfterEvery: UInt64?
    /// Every vote of this number loses its connection in the middle of its answer.
    var cutEvery: UInt64?
    /// Every created or imported post of this number loses the connection after it was made.
    var loseCreateEvery: UInt64?
    /// The answer to every vote of this number has another ballot than the voter's.
    var wrongBallotEvery: UInt64?
    /// The answer to this vote comes after the next vote of its connection was refused, as where a disk
    /// hangs.
    var passAt: UInt64?
    /// From this vote on answers are held back for a while.
    var stallAt: UInt64?
    var stall = Duration.milliseconds(300)
    /// Answers to votes on are never sent from this vote on.
    var silentFrom: UInt64?
    /// Every vote of this number counts and is never answered.
    var silentEvery: UInt64?
    /// After this vote the service sends GoAway on its connection.
    var leaveAt: UInt64?
    /// Every page has the same posts, and another page follows it.
    var repeatsPages = false
    /// So many times the first page that was asked for is served again, before it is read anew.
    var staleCount: UInt64?
    /// Every page has a hundred new posts that nobody created, and another page follows it.
    var makesUpPosts = false
    /// The clock of the service, in milliseconds; nil is one that is as good as any.
    var clock: Int64?
    /// The score of each post that is read by its id; nil is the right one.
    var readScore: Int64?
    /// The result of this vote of a batch has neither a vote nor a status.
    var emptyResultAt: UInt64?
    /// Hello of a connection of the load is answered with a ping.
    var greetsWithPing = false
    var refusesUsers = false
    /// Sequences are looked at by nobody: what is sent twice is executed twice.
    var ignoresSequences = false
    /// The channels are forgotten with each loss of a connection, and Hello says so.
    var forgetsChannels = false
    /// The channels are forgotten with the loss of a connection, and the Hello that makes one anew
    /// loses its connection instead of an answer.
    var losesHellos = false
    /// The service does not say that it executes anything exactly once.
    var lacksExactlyOnce = false
    /// After its death the service starts again at the same address.
    var restarts = false
    /// What it starts again with is empty, and another instance.
    var restartsEmpty = false
    /// The message with which every post is refused.
    var refusal: String?
    /// Whether nobody may create a feed.
    var refusesFeeds = false
    /// The seed of the changes to answers, and of how many one is changed.
    var mutation: (seed: UInt64, oneIn: Int)?
    /// What happens to each call that asks for times.
    var timed: FakeTimedFault?
}

/// What happens to the calls of a fake service that ask for its times.
enum FakeTimedFault: Sendable {
    /// Their answers have no times, as of a service that does not know them.
    case noTimes
    /// Their times are of another clock.
    case otherClock
    /// Their votes are answered with another post.
    case otherPost
    /// Their votes are answered with the score 0.
    case lowScore
    /// Their votes are answered with another ballot than the voter's.
    case otherBallot
    /// They are refused for now and are not executed.
    case refused
    /// They lose their connection after they were executed.
    case lost
}

/// The ballots of a fake service, one of each user on each post.
struct FakeBallots {
    struct Caller {
        var user: UserID = 0
        var channel: FakeChannels.Key?
    }

    private struct Key: Hashable {
        var user: UserID
        var post: PostID
    }

    var caller = Caller()
    /// Whether the next answer has another ballot than the caller's.
    var isAnswerWrong = false
    private var standing: [Key: VoteDirection] = [:]
    /// The connections over which each user voted.
    private(set) var channels: [UserID: Set<FakeChannels.Key>] = [:]

    var count: Int { standing.count }

    /// Why the caller may not vote; nil where it may.
    func refusal(_ faults: FakeFaults) -> Reason? {
        if faults.refusesUsers { return .serviceOnly }
        return caller.user.isOfService ? nil : .identityRequired
    }

    /// Sets the caller's ballot on a post; a `count` above 1 counts it as often.
    mutating func cast(_ direction: VoteDirection, _ count: Int64, on post: inout Post) {
        let key = Key(user: caller.user, post: post.id)
        if let channel = caller.channel { channels[caller.user, default: []].insert(channel) }
        let next = direction == .clear ? nil : direction
        if let last = standing[key] { post.add(last, -1) }
        if let next { post.add(next, count) }
        standing[key] = next
    }

    /// The caller's ballot in an answer.
    func answer(on post: PostID) -> VoteDirection {
        let ballot = standing[Key(user: caller.user, post: post)] ?? .unspecified
        guard isAnswerWrong else { return ballot }
        return ballot == .up ? .down : .up
    }

    /// Takes a ballot up away and returns its post; nil where there is none.
    mutating func removeOne() -> PostID? {
        guard let key = standing.first(where: { $0.value == .up })?.key else { return nil }
        standing[key] = nil
        return key.post
    }
}

/// What a fake service remembers of the calls of its clients.
struct FakeChannels {
    struct Key: Hashable {
        var clientID: [UInt8]
        var channel: UInt32
    }

    struct Outcome {
        var request: FeedProto.Request
        var ids: [PostID]
    }

    private struct Channel {
        var highest: UInt64 = 0
        var outcomes: [UInt64: Outcome] = [:]
    }

    private var channels: [Key: Channel] = [:]

    /// Opens a channel: whether it was known, and its last sequence.
    mutating func open(_ key: Key) -> (isKnown: Bool, lastSequence: UInt64) {
        guard let channel = channels[key] else {
            channels[key] = Channel()
            return (false, 0)
        }
        return (true, channel.highest)
    }

    mutating func forget(_ key: Key) { channels[key] = nil }

    /// The outcome of a call that was executed; a reason where nobody can say, or nil.
    func outcome(_ key: Key, _ sequence: UInt64, _ request: FeedProto.Request) -> Known? {
        guard let channel = channels[key] else { return .refused(.identityRequired) }
        if let outcome = channel.outcomes[sequence] {
            return outcome.request == request ? .executed(outcome.ids) : .refused(.sequenceReused)
        }
        return sequence + 256 <= channel.highest ? .refused(.sequenceExpired) : nil
    }

    enum Known {
        case executed([PostID])
        case refused(Reason)
    }

    /// Remembers what became of a call.
    mutating func record(
        _ key: Key,
        _ sequence: UInt64,
        _ request: FeedProto.Request,
        ids: [PostID]
    ) {
        guard var channel = channels.removeValue(forKey: key) else { return }
        channel.outcomes[sequence] = Outcome(request: request, ids: ids)
        channel.highest = max(channel.highest, sequence)
        if sequence > 256 { channel.outcomes[sequence - 256] = nil }
        channels[key] = channel
    }
}
