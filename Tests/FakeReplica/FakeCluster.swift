import FeedConcurrency
package import FeedReplica

/// What a service has answered to COPY_WANTED.
package enum FakeCopy: Equatable, Sendable {
    case file(index: UInt64, path: String)
    case none(why: String)
}

/// The log of a cluster in the process of a test, and who leads it; each node has a ``FakeReplica``.
///
/// It keeps the contract of docs/REPLICA.md, and notes each word of a service that does not. A test moves it:
/// it commits and elects at once, by its plan, or when it is told so. Any thread may call it.
package final class FakeCluster: Sendable {
    /// The number of a node that has no ``FakeReplica``, and leads for a test.
    package static let otherNode: UInt64 = 99
    /// How often a follower hears what is committed.
    package static let hearingMicroseconds: UInt64 = 50_000
    /// How long a test waits for something.
    private static let patience = Duration.seconds(120)

    package let id: ClusterID
    private let state: Lock<ClusterState>
    private let changes = Semaphore()

    /// A cluster whose log begins behind a record.
    ///
    /// - Parameters:
    ///   - id: The number of the cluster.
    ///   - last: The last record of the state that the cluster is made of.
    ///   - leader: The node that leads term 1, with its first record.
    ///   - plan: What happens by chance.
    package init(
        _ id: ClusterID = ClusterID(high: 0x3031_3233_3435_3637, low: 0x3839_6162_6364_6566),
        behind last: UInt64 = 0,
        leader: UInt64 = 1,
        plan: FakePlan = FakePlan()
    ) {
        self.id = id
        var state = ClusterState(id, behind: last, plan)
        state.members[leader] = Member(name: "n\(leader)", url: "http://127.0.0.1", isVoter: true)
        state.elect(leader, dropping: false)
        self.state = Lock(state)
    }

    // MARK: What has happened

    /// The committed records that the log still has.
    package var log: [FakeEntry] {
        state.withLock { state in
            state.entries.filter { $0.index <= state.committed }
        }
    }

    package var committed: UInt64 { state.withLock { $0.committed } }
    /// The last record, committed or not.
    package var last: UInt64 { state.withLock { $0.last } }
    package var term: UInt64 { state.withLock { $0.term } }
    package var leader: UInt64 { state.withLock { $0.leader } }
    /// What services have said that no service may say.
    package var violations: [String] { state.withLock { $0.violations } }
    package var proposalCount: Int { state.withLock { $0.proposalCount } }
    package var refusalCount: Int { state.withLock { $0.refusalCount } }
    /// How often the leadership has gone to another node.
    package var depositionCount: Int { state.withLock { $0.depositionCount } }
    /// The answers to COPY_WANTED, by request.
    package var copies: [UInt64: FakeCopy] { state.withLock { $0.copies } }
    /// The nodes of each TRANSFER.
    package var transfers: [UInt64] { state.withLock { $0.transfers } }

    /// What the service of a node has said of itself; nil without a session.
    package func hello(of node: UInt64 = 1) -> ReplicaHello? {
        state.withLock { state in state.sessions[node].flatMap { state.connections[$0]?.hello } }
    }

    /// The last record that a service has said to be durable; nil without a session.
    package func durable(of node: UInt64 = 1) -> UInt64? {
        state.withLock { state in state.sessions[node].flatMap { state.connections[$0]?.durable } }
    }

    // MARK: What is to happen

    /// Commits nothing by itself any more.
    package func hold() { change { $0.isHeld = true } }

    /// Commits all, and what comes.
    package func release() { change { $0.isHeld = false } }

    /// Commits up to a record, also while commits are held.
    package func commitThrough(_ index: UInt64) { change { $0.commit(through: index) } }

    /// Begins a term with another leader; ROLE 0 comes at once.
    ///
    /// - Parameters:
    ///   - drops: Whether what is not committed is overwritten, or else committed, unless that is held.
    ///   - leader: The node that leads now; 0 for none.
    package func depose(dropping drops: Bool, for leader: UInt64 = otherNode) {
        change { $0.elect(leader, dropping: drops) }
    }

    /// Begins a term that a node leads; what is not committed stays.
    package func elect(_ node: UInt64) { change { $0.elect(node, dropping: false) } }

    /// Appends a batch as a leader without a ``FakeReplica``; it is committed as the plan says.
    package func append(_ body: [UInt8]) {
        change { state in
            precondition(
                state.sessions[state.leader] == nil,
                "Node \(state.leader) leads, and its service proposes."
            )
            state.append(.batch, body)
            if !state.isHeld { state.commit(through: state.last) }
        }
    }

    /// Where clients reach a node that has no ``FakeReplica``, as its service would say.
    package func setAddress(_ address: String, of node: UInt64) {
        change { $0.addresses[node] = address }
    }

    /// Adds a member whose service has said nothing, or removes it.
    package func setMember(_ node: UInt64, isThere: Bool) {
        let member = Member(name: "n\(node)", url: "http://127.0.0.1", isVoter: false)
        change { $0.members[node] = isThere ? member : nil }
    }

    /// Forgets records; a service that needs them is told to take a state from a file, or that it is too old.
    package func forget(through index: UInt64, leaving path: String? = nil) {
        change { $0.forget(through: index, leaving: path) }
    }

    /// Whether READ is answered only by ``answerReads()``.
    package func holdReads() { change { $0.holdsReads = true } }

    /// Answers all reads that wait.
    package func answerReads() { change { $0.answerReads() } }

    /// Whether followers hear by themselves what is committed; at first they do.
    package func hearsByItself(_ hears: Bool) { change { $0.hearsByItself = hears } }

    /// What the replicas do wrong from now on.
    package func setFaults(_ faults: Set<FakeFault>) { change { $0.faults = faults } }

    /// Says a word to the service of a node, such as HEARD, COPY_WANTED or MEMBER_WANTED.
    package func say(_ word: ReplicaWord, to node: UInt64 = 1) {
        change { state in
            guard let session = state.sessions[node] else { return }
            state.tell(session, word)
        }
    }

    /// Asks the service of a node for a copy of its state, of a record at least.
    package func wantCopy(_ request: UInt64, least: UInt64, of node: UInt64 = 1) {
        change { state in
            guard let session = state.sessions[node] else { return }
            state.wantedCopies[request] = least
            state.tell(session, .copyWanted(request: request, least: least))
        }
    }

    /// The copy of a request was sent, or is given up.
    package func endCopy(_ request: UInt64, of node: UInt64 = 1) {
        change { state in
            state.wantedCopies[request] = nil
            guard let session = state.sessions[node] else { return }
            state.tell(session, .copyDone(request: request))
        }
    }

    /// Ends the session of a node with a last word, or cuts it off.
    package func endSession(of node: UInt64 = 1, _ reason: EndReason?) {
        change { state in
            guard let session = state.sessions[node] else { return }
            state.end(session, reason.map { .end($0, text: "a test ends it") })
        }
    }

    // MARK: Waiting

    /// Waits until the log has a record, committed or not; false if it takes too long.
    package func awaitProposal(_ index: UInt64) -> Bool { wait { $0.last >= index } }

    /// Waits until a read waits for ``answerReads()``.
    package func awaitRead() -> Bool { wait { !$0.heldReads.isEmpty } }

    /// Waits until a record is committed.
    package func awaitCommit(_ index: UInt64) -> Bool { wait { $0.committed >= index } }

    /// Waits until a record has been written to the socket of a node's session.
    package func awaitSent(_ index: UInt64, to node: UInt64 = 1) -> Bool {
        wait { state in
            state.sessions[node].flatMap { state.connections[$0]?.sent } ?? 0 >= index
        }
    }

    /// Waits until a node has a session.
    package func awaitSession(of node: UInt64 = 1) -> Bool { wait { $0.sessions[node] != nil } }

    /// Waits until the service of a node has said that a record is durable.
    package func awaitDurable(_ index: UInt64, of node: UInt64 = 1) -> Bool {
        wait { state in
            state.sessions[node].flatMap { state.connections[$0]?.durable } ?? 0 >= index
        }
    }

    /// Waits until a service has answered a request for a copy.
    package func awaitCopy(_ request: UInt64) -> FakeCopy? {
        wait { $0.copies[request] != nil } ? copies[request] : nil
    }

    /// Waits until a service has refused a request for a copy, or taken the file back; gives why.
    package func awaitNoCopy(_ request: UInt64) -> String? {
        let isRefused = wait { state in
            if case .none(_)? = state.copies[request] { true } else { false }
        }
        guard isRefused, case .none(let why)? = copies[request] else { return nil }
        return why
    }

    func wait(_ isDone: @Sendable (ClusterState) -> Bool) -> Bool {
        let end = MonotonicInstant.now.advanced(by: Self.patience)
        while !state.withLock({ isDone($0) }) {
            guard MonotonicInstant.now < end else { return false }
            // Several may wait, and one takes the signal: so each looks again soon.
            _ = changes.wait(upTo: .milliseconds(5))
        }
        return true
    }

    // MARK: Connections

    /// Changes the state, and lets all connections look at it.
    @discardableResult
    func change<Result: Sendable>(
        _ body: @Sendable (inout ClusterState) -> Result
    ) -> Result {
        let (result, wakeUps) = state.withLock { state in
            let result = body(&state)
            return (result, state.connections.values.map(\.wakeUp))
        }
        for wakeUp in wakeUps { wakeUp.wake() }
        changes.signal()
        return result
    }

    /// One turn of a connection's loop: commits by the plan, and gives what is to be said.
    func turn(_ connection: Int) -> Turn {
        let now = SystemClock.bootNanoseconds() / 1_000
        let (turn, wakeUps) = state.withLock { state in
            let before = state.committed
            state.commitByPlan()
            let others = state.committed > before ? state.connections.values.map(\.wakeUp) : []
            return (state.take(connection, now: now), others)
        }
        for wakeUp in wakeUps { wakeUp.wake() }
        if !wakeUps.isEmpty { changes.signal() }
        return turn
    }
}
