import FeedTestSupport
import FeedTransport
import LoadGen

/// A server on a port of its own that has sorted sets, as far as a run asks for them.
final class FakeRedis: Sendable {
    /// What goes wrong; the numbers count votes as they arrive.
    struct Faults: Sendable {
        /// Every vote of this number is answered and forgotten.
        var dropEvery: Int?
        /// Every vote of this number counts twice.
        var doubleEvery: Int?
        /// Every vote of this number is refused and does not count.
        var refuseEvery: Int?
        /// Every vote of this number is refused although it counted.
        var refuseCountedEvery: Int?
        /// The reply to this vote is none that a vote has.
        var misreplyAt: Int?
        /// Every vote of this number closes its connection.
        var loseEvery: Int?
        /// Pages have their first two members the wrong way round.
        var swapsPages = false
        /// Every page is full of members that nobody added.
        var makesUpMembers = false
        /// No command is answered.
        var isSilent = false
        /// Every command is refused, as by a server that wants a password.
        var wantsPassword = false
        /// The processor time that each vote takes, in turns of a loop that does nothing.
        var workPerVote = 0
        /// The seed of the changes to replies, and of how many one is changed.
        var mutation: (seed: UInt64, oneIn: Int)?
    }

    let address: SocketAddress
    private let thread: EventLoopThread
    private let state: Locked<State>

    /// The sets by key, with the scores by member.
    var sets: [String: [String: Int64]] { state.withLock { $0.sets } }

    /// How many replies were changed.
    var mutatedCount: UInt64 { state.withLock { $0.mutator?.count ?? 0 } }

    private init(_ address: SocketAddress, _ thread: EventLoopThread, _ state: Locked<State>) {
        self.address = address
        self.thread = thread
        self.state = state
    }

    /// Starts a server and waits until it listens.
    static func start(_ faults: Faults = Faults()) async throws -> FakeRedis {
        let mutator = faults.mutation.map { AnswerMutator(seed: $0.seed, oneIn: $0.oneIn) }
        let state = Locked(State(faults: faults, mutator: mutator))
        let thread = try EventLoopThread(
            name: "fake-redis",
            configuration: TransportConfiguration(),
            budget: BufferBudget()
        ) { _ in }
        let address: SocketAddress = try await withCheckedThrowingContinuation { continuation in
            thread.mailbox.post { loop in
                continuation.resume(
                    with: Result {
                        try TCPListener(
                            at: .loopback(port: 0),
                            on: loop,
                            targets: [loop.mailbox]
                        ) { _ in FakeRedisHandler(state) }.address
                    }
                )
            }
        }
        return FakeRedis(address, thread, state)
    }

    /// Stops the server and waits for its end.
    func stop() async {
        thread.stop()
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }

    fileprivate struct State: Sendable {
        let faults: Faults
        var mutator: AnswerMutator?
        var sets: [String: [String: Int64]] = [:]
        var voteCount = 0

        /// The reply to a command; nil where the connection is to be closed.
        mutating func reply(_ words: [String]) -> String? {
            if faults.isSilent { return "" }
            if faults.wantsPassword { return "-NOAUTH Authentication required.\r\n" }
            let members = sets[words[1], default: [:]]
            switch words[0] {
            case "ZADD":
                for place in stride(from: 2, to: words.count, by: 2) {
                    sets[words[1], default: [:]][words[place + 1]] = Int64(words[place])
                }
                return ":\((words.count - 2) / 2)\r\n"
            case "ZINCRBY": return vote(words[1], words[3])
            case "ZSCORE": return members[words[2]].map { bulk("\($0)") } ?? "$-1\r\n"
            case "ZCARD": return ":\(members.count)\r\n"
            case "UNLINK":
                sets[words[1]] = nil
                return ":1\r\n"
            case "ZREVRANGE": return page(members, from: Int(words[2]) ?? 0, to: Int(words[3]) ?? 0)
            default: return "-ERR unknown command\r\n"
            }
        }

        private mutating func vote(_ key: String, _ member: String) -> String? {
            voteCount += 1
            var turns = 0
            while turns < faults.workPerVote { turns &+= 1 + (voteCount & 0) }
            func isDue(_ every: Int?) -> Bool {
                every.map { voteCount.isMultiple(of: $0) } ?? false
            }
            if isDue(faults.loseEvery) { return nil }
            if isDue(faults.refuseEvery) { return "-OOM command not allowed\r\n" }
            let score = sets[key, default: [:]][member, default: 0] + 1
            if !isDue(faults.dropEvery) {
                sets[key, default: [:]][member] = isDue(faults.doubleEvery) ? score + 1 : score
            }
            if isDue(faults.refuseCountedEvery) { return "-ERR late\r\n" }
            if voteCount == faults.misreplyAt { return ":\(score)\r\n" }
            return bulk("\(score)")
        }

        private func page(_ members: [String: Int64], from first: Int, to last: Int) -> String {
            if faults.makesUpMembers {
                let members = (first...last).map { bulk("p\(100_000_000_000 + $0)") + bulk("0") }
                return "*\(2 * members.count)\r\n" + members.joined()
            }
            var sorted = members.sorted { ($0.value, $0.key) > ($1.value, $1.key) }
            if faults.swapsPages, sorted.count > 1 { sorted.swapAt(0, 1) }
            let page = sorted.dropFirst(first).prefix(last - first + 1)
            let entries = page.map { bulk($0.key) + bulk("\($0.value)") }
            return "*\(2 * page.count)\r\n" + entries.joined()
        }

        private func bulk(_ text: String) -> String { "$\(text.utf8.count)\r\n\(text)\r\n" }
    }
}

/// One connection of the fake server.
private final class FakeRedisHandler: ConnectionHandler {
    private let state: Locked<FakeRedis.State>

    init(_ state: Locked<FakeRedis.State>) {
        self.state = state
    }

    func connectionOpened(_ connection: TCPConnection) {}

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        var offset = 0
        var output: [UInt8] = []
        while let command = try? RESPReader.next(in: bytes, at: &offset) {
            guard case .array(let words) = command,
                let reply = state.withLock({ $0.reply(words.map(Self.text)) })
            else {
                connection.write(output)
                connection.closeAfterFlush()
                return ReadProgress(consumedByteCount: bytes.byteCount)
            }
            let bytes = Array(reply.utf8)
            output += state.withLock { $0.mutator?.answer(bytes) } ?? bytes
        }
        connection.write(output)
        return ReadProgress(consumedByteCount: offset)
    }

    func connectionEndedInput(_ connection: TCPConnection) { connection.closeAfterFlush() }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {}

    private static func text(_ value: RESPValue) -> String {
        guard case .bytes(let bytes) = value else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
