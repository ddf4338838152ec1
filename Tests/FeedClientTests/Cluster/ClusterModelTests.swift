import FeedClient
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// Random histories of a session at a cluster of three, whose leader changes a hundred times, against an
/// independent model of the cluster.
struct ClusterModelTests {
    @Test(
        "patient calls are all answered, and each change is applied once",
        arguments: TestEnvironment.seeds(1...10)
    )
    func answersEveryCall(seed: UInt64) {
        var history = ClusterHistory(seed: seed, isPatient: true)
        history.run()
        for call in history.calls.indices.dropFirst() {
            let outcomes = history.harness.outcomes[call] ?? []
            let applied = history.cluster.applied[UInt64(call)] ?? 0
            #expect(outcomes.count == 1, "call \(call), seed \(seed)")
            #expect(applied == (history.calls[call] ? 1 : 0), "call \(call), seed \(seed)")
            #expect(history.harness.isAnswered(call), "\(outcomes) of \(call), seed \(seed)")
        }
        #expect(history.cluster.faults.isEmpty, "\(history.cluster.faults.prefix(3)) seed \(seed)")
    }

    @Test("calls end as the model knows them", arguments: TestEnvironment.seeds(1...10))
    func endsEveryCallAsItWent(seed: UInt64) {
        var history = ClusterHistory(seed: seed, isPatient: false)
        history.run()
        for call in history.calls.indices.dropFirst() {
            let problem = history.problem(of: call)
            #expect(problem == nil, "call \(call), seed \(seed)")
        }
        #expect(history.cluster.faults.isEmpty, "\(history.cluster.faults.prefix(3)) seed \(seed)")
    }
}

/// One history: a session, the way that it chooses, the model, and the network between them.
private struct ClusterHistory {
    var harness: SessionHarness
    var cluster: ModelCluster
    /// Whether each call is a change, by its caller.
    var calls: [Bool] = [false]

    private let isPatient: Bool
    private var generator: SeededGenerator
    private var route: Route
    /// Which service the connection leads to; nil without one.
    private var node: Int?
    private var requests: [ClientFrame] = []
    private var answers: [ServerFrame] = []
    private var triedCount = 0

    init(seed: UInt64, isPatient: Bool) {
        self.isPatient = isPatient
        generator = SeededGenerator(seed: seed)
        harness = SessionHarness(seed: seed) {
            $0.retry.budgetBurst = isPatient ? 1_000_000 : 40
            $0.retry.maximumAttemptCount = isPatient ? 1_000_000 : 4
        }
        harness.session.serviceCount = ModelCluster.addresses.count
        route = Route(ModelCluster.addresses.compactMap { try? Endpoint(parsing: $0) })
        cluster = ModelCluster(window: UInt64.random(in: 4...16, using: &generator))
    }

    mutating func run() {
        while cluster.leaderChangeCount < 100 { step() }
        cluster.settle()
        settle()
        harness.close()
        follow()
    }

    /// Lets everything end: the network works, and time passes.
    private mutating func settle() {
        for _ in 0..<20_000 where harness.session.callCount > 0 {
            connect()
            follow()
            execute()
            commit()
            deliver()
            harness.pass(20)
            follow()
        }
    }

    private mutating func commit() {
        if let answer = cluster.commit(), node != nil { answers.append(answer) }
    }

    private mutating func step() {
        switch Int.random(in: 0..<24, using: &generator) {
        case 0..<3: submit()
        case 3..<8: execute()
        case 8..<13: commit()
        case 13..<17: deliver()
        case 17: harness.pass(UInt64.random(in: 0...400, using: &generator))
        case 18..<21: connect()
        case 21: if generator.oneIn(3) { breakConnection() }
        case 22: cluster.restart(&generator)
        default: if generator.oneIn(4) { changeLeader() }
        }
        follow()
    }

    /// What is wrong with the end of a call; nil where nothing is.
    func problem(of caller: Int) -> String? {
        let outcomes = harness.outcomes[caller] ?? []
        guard outcomes.count == 1 else { return "It ended \(outcomes.count) times." }
        let applied = cluster.applied[UInt64(caller)] ?? 0
        guard applied <= 1 else { return "It was applied \(applied) times." }
        switch outcomes[0] {
        case .success:
            return calls[caller] && applied == 0 ? "It was answered and not applied." : nil
        case .failure(.inDoubt(let cause)): return "It is in doubt: \(cause)"
        case .failure(let error):
            if error.effect == .none, applied > 0 { return "\(error), but it was applied." }
            return !calls[caller] && error.effect == .unknown ? "A read had an effect." : nil
        }
    }

    private mutating func submit() {
        let isChange = !generator.oneIn(3)
        let caller = calls.count
        calls.append(isChange)
        let post = PostID(rawValue: UInt64(caller))
        let request: Request =
            isChange
            ? .castVote(CastVoteRequest(postID: post, direction: .up))
            : .getPost(GetPostRequest(id: post))
        let timeout = isPatient ? 1 << 40 : UInt64.random(in: 200...8_000, using: &generator)
        harness.submit(caller, request, within: timeout)
    }

    /// Does what the session asked for since the last look.
    private mutating func follow() {
        for demand in harness.takeDemands() {
            switch demand {
            case .abandon: hangUp()
            case .close:
                hangUp()
                harness.lose(.closed)
            case .connect, .sendHello, .finish: break
            }
        }
        requests += harness.takeFrames()
    }

    /// Opens the connection that the session asked for last, as its driver does.
    private mutating func connect() {
        guard harness.demands.last == .connect, harness.destinations.count > triedCount
        else { return }
        triedCount = harness.destinations.count
        var endpoint: Endpoint? = route.begin(
            at: harness.destinations[triedCount - 1],
            goingOn: harness.goesOn[triedCount - 1]
        )
        while let candidate = endpoint, cluster.isDown(Self.place(of: candidate)) {
            endpoint = route.next()
        }
        guard let endpoint else { return harness.lose(.cannotConnect("refused")) }
        harness.session.connected()
        harness.run()
        let place = Self.place(of: endpoint)
        node = place
        answers.append(
            ServerFrame(id: 1, revision: 1, response: cluster.hello(of: place, &generator))
        )
    }

    private static func place(of endpoint: Endpoint) -> Int {
        ModelCluster.addresses.firstIndex(of: "\(endpoint)") ?? 0
    }

    private mutating func execute() {
        guard let node, !requests.isEmpty else { return }
        let refusal: Status? = generator.oneIn(12) ? .overloaded(retryAfter: 10) : nil
        if let answer = cluster.execute(requests.removeFirst(), at: node, refusal) {
            answers.append(answer)
        }
    }

    private mutating func deliver() {
        guard node != nil, !answers.isEmpty else { return }
        harness.receive(answers.removeFirst())
    }

    private mutating func breakConnection() {
        guard node != nil else { return }
        // The service may still execute what is on its way.
        while !requests.isEmpty, !generator.oneIn(4) { execute() }
        hangUp()
        harness.lose()
    }

    /// Another service leads, or none does for a while; the old leader ends, and says so if it can.
    private mutating func changeLeader() {
        guard let old = cluster.leader else { return cluster.elect(&generator) }
        let lastID = cluster.lastID
        cluster.depose(&generator)
        guard node == old else { return }
        let isGreeted = harness.session.isConnected && answers.allSatisfy { $0.id != 1 }
        if isGreeted, generator.oneIn(2) {
            while !answers.isEmpty, node != nil {
                deliver()
                follow()
            }
            let leader = cluster.leader.map { ModelCluster.addresses[$0] } ?? ""
            let goAway = GoAway(
                lastID: lastID,
                drainMilliseconds: 50,
                reason: .notLeader,
                leader: leader
            )
            if node != nil { harness.receive(0, .goAway(goAway)) }
            follow()
        }
        guard node != nil else { return }
        hangUp()
        harness.lose()
    }

    private mutating func hangUp() {
        node = nil
        requests = []
        answers = []
        cluster.forgetConnection()
    }
}

/// A cluster of three in a few lines, as docs/CLUSTER.md describes one: independent of the client's code.
///
/// The leader executes, and answers what is committed. A new leader has all that was committed, and of the
/// rest a first part or nothing.
private struct ModelCluster {
    static let addresses = ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]

    private(set) var leader: Int? = 0
    private(set) var leaderChangeCount = 0
    /// How often each change was applied.
    private(set) var applied: [UInt64: Int] = [:]
    /// What broke a rule of the protocol that the client must keep.
    private(set) var faults: [String] = []
    /// The last frame of the connection that was executed or refused.
    private(set) var lastID: UInt64 = 0

    private var down: Set<Int> = []
    /// What the leader has executed and not committed, and whether its connection awaits the answer.
    private var pending: [(frame: ClientFrame, isAwaited: Bool)] = []
    /// The executed numbers of the one channel, with the change of each.
    private var record: [UInt64: UInt64]?
    private var highest: UInt64 = 0
    private let window: UInt64

    init(window: UInt64) { self.window = window }

    func isDown(_ node: Int) -> Bool { down.contains(node) }

    mutating func restart(_ generator: inout SeededGenerator) {
        if let node = down.randomElement(using: &generator) { down.remove(node) }
    }

    /// Everything works from now on.
    mutating func settle() {
        down = []
        if leader == nil { leader = 0 }
    }

    mutating func forgetConnection() {
        for place in pending.indices { pending[place].isAwaited = false }
    }

    mutating func hello(of node: Int, _ generator: inout SeededGenerator) -> Response {
        lastID = 1
        let members = Self.addresses.enumerated().map { place, address in
            ClusterMember(address: address, role: place == leader ? .leader : .follower)
        }
        guard node == leader else {
            // What a follower says of the leader may be old, or nothing.
            let hint =
                generator.oneIn(3)
                ? "" : Self.addresses[Int.random(in: 0..<3, using: &generator)]
            return SessionHarness.hello(
                window: UInt32(window),
                capabilities: [],
                channelStatus: .notLeader(generator.oneIn(4) ? "nobody.test:1" : hint),
                role: .follower,
                members: generator.oneIn(2) ? members : []
            )
        }
        // The calls of the channel's former connection are finished when Hello is answered.
        while !pending.isEmpty { _ = commit() }
        let isKnown = record != nil
        if record == nil { record = [:] }
        return SessionHarness.hello(
            window: UInt32(window),
            isKnown: isKnown,
            last: highest,
            role: .leader,
            members: members,
            channelNumber: 1
        )
    }

    /// Executes a frame; the result is an answer that waits for no commit.
    mutating func execute(_ frame: ClientFrame, at node: Int, _ refusal: Status?) -> ServerFrame? {
        if frame.id <= lastID { faults.append("Frame \(frame.id) came after frame \(lastID).") }
        lastID = frame.id
        guard node == leader else {
            faults.append("A call came to a follower.")
            return ServerFrame(id: frame.id, revision: 1, status: .notLeader())
        }
        if let refusal { return ServerFrame(id: frame.id, revision: 1, status: refusal) }
        if case .castVote(let vote) = frame.request {
            if frame.sequence == 0 { faults.append("A change has no sequence.") }
            if let change = record?[frame.sequence] {
                if change != vote.postID.rawValue { faults.append("\(frame.sequence) was reused.") }
                return ServerFrame(id: frame.id, revision: 1, response: .empty)
            }
            if frame.sequence + window <= highest { faults.append("\(frame.sequence) is too old.") }
        }
        pending.append((frame, true))
        return nil
    }

    /// Commits the oldest frame; the result is its answer, if its connection is still there.
    mutating func commit() -> ServerFrame? {
        guard !pending.isEmpty else { return nil }
        let (frame, isAwaited) = pending.removeFirst()
        if case .castVote(let vote) = frame.request {
            applied[vote.postID.rawValue, default: 0] += 1
            highest = max(highest, frame.sequence)
            record?[frame.sequence] = vote.postID.rawValue
            record = record?.filter { $0.key + window > highest }
        }
        return isAwaited ? ServerFrame(id: frame.id, revision: 1, response: .empty) : nil
    }

    /// The leader ends, and with it what the next one does not have.
    mutating func depose(_ generator: inout SeededGenerator) {
        guard let old = leader else { return }
        leaderChangeCount += 1
        for _ in 0..<Int.random(in: 0...pending.count, using: &generator) { _ = commit() }
        pending = []
        down.insert(old)
        leader = nil
        if !generator.oneIn(3) { elect(&generator) }
    }

    mutating func elect(_ generator: inout SeededGenerator) {
        leader = (0..<Self.addresses.count).filter { !down.contains($0) }
            .randomElement(using: &generator)
    }
}
