import FeedTestSupport
import FeedTransport
import Foundation
import Histogram
import LoadGen
import Testing

@Suite struct RESPReaderTests {
    @Test(
        arguments: [
            ("+OK\r\n", .line("OK")),
            ("-ERR no such key\r\n", .error("ERR no such key")),
            (":-12\r\n", .integer(-12)),
            ("$3\r\nabc\r\n", .bytes(Array("abc".utf8))),
            ("$0\r\n\r\n", .bytes([])),
            ("$2\r\n\r\n\r\n", .bytes([13, 10])),
            ("$-1\r\n", .null),
            ("*-1\r\n", .null),
            ("*0\r\n", .array([])),
            ("*2\r\n$1\r\na\r\n:7\r\n", .array([.bytes([97]), .integer(7)])),
        ] as [(String, RESPValue)]
    )
    func readsAReplyThatArrivesInPieces(_ text: String, _ value: RESPValue) throws {
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count {
            let (reply, offset) = try read(Array(bytes.prefix(length)))
            #expect(reply == nil && offset == 0, "\(length) bytes")
        }
        let (reply, offset) = try read(bytes + Array("+next".utf8))
        #expect(reply == value)
        #expect(offset == bytes.count)
    }

    @Test(
        arguments: [
            ("!x\r\n", .unknownType(33)),
            (":1x\r\n", .badNumber("1x")),
            ("$-2\r\n", .badNumber("-2")),
            ("$524289\r\n", .tooLong(524_289, limit: 524_288)),
            ("*524289\r\n", .tooLong(524_289, limit: 524_288)),
            ("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", .tooDeep(limit: 4)),
        ] as [(String, RESPError)]
    )
    func refusesWhatIsNoReply(_ text: String, _ error: RESPError) {
        #expect(throws: error) { try read(Array(text.utf8)) }
    }

    @Test(arguments: [
        ("$1\r\n0\r\n", 0), ("$2\r\n17\r\n", 17), ("$2\r\n-3\r\n", -3),
        ("$10\r\n1234567890\r\n", 1_234_567_890),
        ("$18\r\n123456789012345678\r\n", 123_456_789_012_345_678),
    ])
    func readsAScoreThatIsWhole(_ text: String, _ score: Int64) {
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count {
            let (found, offset) = readScore(Array(bytes.prefix(length)))
            #expect(found == nil && offset == 0, "\(length) bytes")
        }
        let (found, offset) = readScore(bytes)
        #expect(found == score && offset == bytes.count)
    }

    @Test(arguments: [
        "$3\r\n1.5\r\n", "$-1\r\n", "-ERR x\r\n", ":123456\r\n", "$5\r\n1e+21\r\n",
        "$1\r\n12\r\n\r\n",
        "$0\r\n\r\n\r\n\r\n",
    ])
    func leavesEverythingElseToTheReader(_ text: String) {
        let (found, offset) = readScore(Array(text.utf8))
        #expect(found == nil && offset == 0)
    }

    @Test func readsScoresAsRedisWritesThem() {
        func score(_ text: String) -> Int64? { RESPValue.bytes(Array(text.utf8)).score }
        #expect(score("17") == 17)
        #expect(score("1e+15") == 1_000_000_000_000_000)
        #expect(score("1.5") == nil)
        #expect(score("inf") == nil)
        #expect(RESPValue.null.score == nil)
    }

    private func read(_ bytes: [UInt8]) throws -> (RESPValue?, Int) {
        var offset = 0
        let result = bytes.withRawSpan { span in
            Result { try RESPReader.next(in: span, at: &offset) }
        }
        return (try result.get(), offset)
    }

    private func readScore(_ bytes: [UInt8]) -> (Int64?, Int) {
        var offset = 0
        let score = bytes.withRawSpan { RESPReader.nextScore(in: $0, at: &offset) }
        return (score, offset)
    }
}

extension LiveTests {
    /// Runs against a server that speaks RESP2, as redis-server does.
    @Suite struct RESPRunTests {
        @Test(arguments: [
            ["-P", "1"], ["-P", "16"], ["-P", "16", "--pipeline-mode", "batch"],
            ["--threads", "3"], ["-R", "20k", "-P", "8"],
        ])
        func countsEveryVoteOnce(_ arguments: [String]) async throws {
            let server = try await FakeRedis.start()
            let result = try await loadRedis(server, shortLoad + arguments)
            let sets = server.sets
            await server.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == 5000 && summary.countedVoteCount == 5000)
            #expect(summary.exactPostCount == 50 && summary.listedPostCount == 50)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.exitStatus == .success)
            // A set in which nothing is wrong is removed.
            #expect(sets.isEmpty)
        }

        @Test func readsPagesAndScores() async throws {
            let server = try await FakeRedis.start()
            let arguments = [
                "--mix", "vote=40,list=20,page=20,get=20", "--page-size", "7", "-P", "4",
            ]
            let result = try await loadRedis(server, shortLoad + arguments)
            await server.stop()
            #expect(result.audit.isPassed)
            for operation in [Operation.vote, .list, .page, .get] {
                let histogram = result.totals.latencies[LatencyKey(operation, .service)]
                #expect(histogram?.totalCount ?? 0 > 0, "\(operation.name)")
            }
        }

        @Test func sendsTheVotesThatTheServiceWouldGet() async throws {
            let arguments = shortLoad + ["-c", "1", "--keys", "zipf:1.2", "--seed", "7"]
            let redis = try await FakeRedis.start()
            _ = try await loadRedis(redis, arguments + ["--no-verify"])
            let members = try #require(redis.sets.values.first)
            await redis.stop()
            let service = try await FakeService.start()
            _ = try await load(service, arguments)
            let scores = service.feed.scores
            await service.stop()
            #expect(members.sorted { $0.key < $1.key }.map(\.value) == scores)
        }

        @Test(
            arguments: [
                (.lostVote, FakeRedis.Faults(dropEvery: 1000)),
                (.extraVote, FakeRedis.Faults(doubleEvery: 1000)),
                (.countedError, FakeRedis.Faults(refuseCountedEvery: 1000)),
                (.pageOrder, FakeRedis.Faults(swapsPages: true)),
            ] as [(Violation, FakeRedis.Faults)]
        )
        func catches(_ violation: Violation, _ faults: FakeRedis.Faults) async throws {
            let server = try await FakeRedis.start(faults)
            let result = try await loadRedis(server, shortLoad + ["-P", "4"])
            let sets = server.sets
            await server.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[violation] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
            // What is wrong stays to be looked at.
            #expect(sets.count == 1)
        }

        @Test func passesErrorsThatDidNotCount() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(refuseEvery: 100))
            let result = try await loadRedis(server, shortLoad)
            await server.stop()
            #expect(result.audit.isPassed)
            #expect(result.totals.outcomes.error == 50)
            #expect(result.totals.failures.serverErrors == ["OOM command not allowed": 50])
        }

        @Test func resetsAConnectionWhoseReplyIsNone() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(misreplyAt: 2008))
            let result = try await loadRedis(server, shortLoad + ["-P", "4"])
            await server.stop()
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("is not the answer to a vote"))
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .failed)
        }

        @Test func knowsThatALostVoteMayHaveCounted() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(loseEvery: 1000))
            let result = try await loadRedis(server, shortLoad + ["-P", "4"])
            await server.stop()
            #expect(result.totals.outcomes.lost > 0)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .failed)
        }

        @Test func saysWhyAServerRefusesTheRun() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(wantsPassword: true))
            let failure = await #expect(throws: RunFailure.self) {
                try await loadRedis(server, shortLoad)
            }
            await server.stop()
            #expect(
                failure?.description
                    == "redis-server, while adding posts: NOAUTH Authentication required."
            )
        }

        @Test func saysThatAServerDoesNotAnswer() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(isSilent: true))
            var configuration = try configure(
                ["--protocol", "resp", "--target", "\(server.address)"] + shortLoad
            )
            configuration.replyTimeout = .milliseconds(20)
            let patient = configuration
            let failure = await #expect(throws: RunFailure.self) {
                try await offload { try Run(patient).execute() }
            }
            await server.stop()
            #expect(
                failure?.description
                    == "redis-server, while adding posts: No reply came within 20ms."
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func endsAWalkOverMembersThatAreMadeUp() async throws {
            let server = try await FakeRedis.start(FakeRedis.Faults(makesUpMembers: true))
            let result = try await loadRedis(server, shortLoad)
            await server.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[.notListed] == 50)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(.enabled(if: RedisServer.isAvailable, "\(RedisServer.absence)"))
        func auditsRedisServer() async throws {
            let server = try await RedisServer()
            let mix = [
                "--mix", "vote=90,list=4,page=4,get=2", "-P", "8", "--pipeline-mode", "batch",
            ]
            let result = try await load(at: server.target, shortLoad + mix)
            await server.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.exactPostCount == 50 && summary.listedPostCount == 50)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.serverPID == Int(server.process.id))
        }
    }
}

/// Runs a load over RESP against `server`.
func loadRedis(_ server: FakeRedis, _ arguments: [String]) async throws -> RunReport {
    try await load(at: "\(server.address)", arguments)
}

private func load(at target: String, _ arguments: [String]) async throws -> RunReport {
    let configuration = try configure(["--protocol", "resp", "--target", target] + arguments)
    return try await offload { try Run(configuration).execute() }
}

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

private final class FakeRedisHandler: ConnectionHandler {
    private let state: Locked<FakeRedis.State>

    init(_ state: Locked<FakeRedis.State>) { self.state = state }

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

/// A server of sorted sets in a process of its own, slow enough that its processor time is its
/// votes', which can be made dearer by a share.
final class PythonRedis: Sendable {
    /// Whether Python is installed.
    static var isAvailable: Bool { program != nil }

    private static let program = Programs.command("python3")

    let target: String
    private let process: RunningProcess

    /// Starts a server that handles one vote in `again` a second time, in vain; 0 handles none so.
    init(again: Int = 0) async throws {
        guard let program = Self.program else { throw Absence() }
        process = try RunningProcess(program, ["-u", "-c", Self.script, "\(again)"])
        guard let line = await process.line(where: { $0.hasPrefix("port ") }) else {
            throw Absence()
        }
        target = "127.0.0.1:\(line.dropFirst(5))"
    }

    func stop() async {
        process.signal(SIGTERM)
        _ = await process.exitStatus()
    }

    private struct Absence: Error {}

    private static let script = #"""
        import selectors, socket, sys
        again = int(sys.argv[1])
        sets, votes = {}, 0
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        print("port", listener.getsockname()[1])
        selector = selectors.DefaultSelector()
        selector.register(listener, selectors.EVENT_READ)
        rest = {}

        def bulk(text):
            return b"$%d\r\n%s\r\n" % (len(text), text)

        def page(members, first, last):
            best = sorted(members.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
            best = best[first:last + 1]
            return b"*%d\r\n" % (2 * len(best)) + b"".join(bulk(m) + bulk(b"%d" % s) for m, s in best)

        def vote(scores, member):
            score = scores.get(member, 0) + 1
            for _ in range(4000):
                pass
            return score, bulk(b"%d" % score)

        def reply(words):
            global votes
            name, scores = words[0], sets.setdefault(words[1], {})
            if name == b"ZINCRBY":
                votes += 1
                if again and votes % again == 0:
                    vote(scores, words[3])
                scores[words[3]], answer = vote(scores, words[3])
                return answer
            if name == b"ZADD":
                scores.update((member, 0) for member in words[3::2])
                return b":%d\r\n" % (len(words) // 2 - 1)
            if name == b"ZSCORE":
                return bulk(b"%d" % scores[words[2]])
            if name == b"ZCARD":
                return b":%d\r\n" % len(scores)
            if name == b"UNLINK":
                del sets[words[1]]
                return b":1\r\n"
            return page(scores, int(words[2]), int(words[3]))

        def serve(connection):
            data = connection.recv(1 << 16)
            if not data:
                selector.unregister(connection)
                connection.close()
                return
            lines = (rest.pop(connection, b"") + data).split(b"\r\n")
            answers, place = [], 0
            while place + 2 * int(lines[place][1:] or 0) < len(lines) - 1 and lines[place]:
                count = int(lines[place][1:])
                answers.append(reply(lines[place + 2:place + 1 + 2 * count:2]))
                place += 1 + 2 * count
            rest[connection] = b"\r\n".join(lines[place:])
            connection.sendall(b"".join(answers))

        while True:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    selector.register(connection, selectors.EVENT_READ)
                else:
                    serve(key.fileobj)
        """#
}

/// A redis-server of a test on a port of its own, without persistence.
final class RedisServer: Sendable {
    /// What a test says that is skipped for want of redis-server.
    static let absence =
        "redis-server is not installed; scripts/install-dependencies.sh --compare installs it"

    /// Whether redis-server is installed.
    static var isAvailable: Bool { program != nil }

    private static let program = Programs.command("redis-server")

    let target: String
    let process: RunningProcess

    /// Starts a server and waits until it takes connections.
    init() async throws {
        guard let program = Self.program else { throw Absence() }
        let port = try ReservedPort()
        target = "127.0.0.1:\(port.number)"
        process = try RunningProcess(
            program,
            ["--port", "\(port.number)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        )
        guard await process.prints("Ready to accept connections") else { throw Absence() }
    }

    /// Stops the server and waits for its end.
    func stop() async {
        process.signal(SIGTERM)
        _ = await process.exitStatus()
    }

    private struct Absence: Error {}
}
