import FeedConcurrency
import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// A service with a disk that hangs: a sync of the journal does not return.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct StallTests {
    /// Runs a service with an operator's address, behind a gate that is open at first.
    private static func withGate(
        _ lines: LoggedLines,
        _ body: @escaping @Sendable (_ port: UInt16, _ admin: UInt16, JournalGate) throws -> Void
    ) async throws {
        let reserved = try ReservedPort()
        try await withGatedService(logger: lines.logger) {
            $0.admin = .loopback(port: reserved.number)
            $0.limits.stallLimit = .seconds(5)
        } _: { port, gate in
            try body(port, reserved.number, gate)
        }
    }

    /// Sends requests in one write, which a loop iteration executes together; returns their ids.
    private static func send(
        _ requests: [(Request, sequence: UInt64)],
        _ client: WireClient
    ) throws -> [UInt64] {
        let frames = requests.map { request, sequence in
            ClientFrame(id: client.nextID(), request: request, sequence: sequence)
        }
        try client.socket.send(frames.flatMap { try $0.encoded() })
        return frames.map(\.id)
    }

    private static func expectRefusal(_ answer: ServerFrame?) {
        let status = answer?.status
        #expect(status?.code == .unavailable && status?.isNotExecuted == true)
        #expect(status?.message.contains("disk does not answer") == true)
        #expect(answer?.revision == 0)
    }

    /// Expects that votes without an answer are shown as slow as the oldest held answer is old.
    private static func expectWaitsInHistory(_ admin: UInt16) throws {
        let page = try OperatorAddressTests.get("/history", admin)
        let body = try #require(page.range(of: "\r\n\r\n")).upperBound
        let json = try JSONSerialization.jsonObject(with: Data(page[body...].utf8))
        let history = try #require(json as? [String: Any])
        let columns = try #require(history["columns"] as? [String])
        let rows = try #require(history["rows"] as? [[Any]])
        // The time is before the columns.
        let oldest = try #require(columns.firstIndex(of: "oldest_held_seconds")) + 1
        let slowest = try #require(columns.firstIndex(of: "vote_p99_seconds")) + 1
        let waits = rows.map { ($0[oldest] as? Double ?? 0, $0[slowest] as? Double ?? 0) }
        #expect(waits.contains { $0.0 > 2 } && waits.allSatisfy { $0.0 < 1 || $0.1 >= $0.0 })
    }

    @Test("calls without an effect are refused, executed changes answered once the disk goes on")
    func refusesWhatHadNoEffect() async throws {
        let lines = LoggedLines()
        try await Self.withGate(lines) { port, admin, gate in
            let voter = try WireClient(port: port)
            _ = try voter.hello(clientID: [UInt8](repeating: 7, count: 16))
            let post = try voter.createPost(title: "a")
            let vote = Request.castVote(CastVoteRequest(postID: post, direction: .up))
            let read = Request.getPost(GetPostRequest(id: post))
            let reader = try WireClient(port: port)
            gate.close()
            // In one write, so that their answers are held together.
            let ids = try Self.send(
                [(vote, 1), (read, 0), (.ping(PingRequest()), 0), (vote, 2)],
                voter
            )
            gate.awaitCommit()
            // The call waits, and is refused once the commit has stood still for five seconds.
            Self.expectRefusal(try reader.call(read))
            // Both pass the votes, which were executed.
            let refused = try voter.receive()
            #expect(refused?.id == ids[1])
            Self.expectRefusal(refused)
            let pong = try #require(try voter.receive())
            #expect(pong.id == ids[2] && pong.status == nil && pong.revision == 0)

            // From now on nothing is executed, and nobody waits to be told so.
            let newcomer = try WireClient(port: port)
            let hello = try newcomer.hello(clientID: [UInt8](repeating: 8, count: 16))
            #expect(hello.status == nil && hello.revision == 0)
            #expect(try newcomer.call(.ping(PingRequest())).status == nil)
            #expect(try newcomer.call(.getServerStats).status == nil)
            Self.expectRefusal(try newcomer.call(vote))
            Self.expectRefusal(try newcomer.call(vote, sequence: 1))
            Self.expectRefusal(try newcomer.call(.listPosts(ListPostsRequest())))
            // A repeat waits for the commit as its first call does, and holds up no other answer.
            let again = try Self.send([(vote, 1), (read, 0)], voter)
            let other = try voter.receive()
            #expect(other?.id == again[1])
            Self.expectRefusal(other)

            let causes = try OperatorAddressTests.get("/ready", admin)
            #expect(causes.hasPrefix("HTTP/1.1 503"))
            #expect(causes.contains("a commit has stood still for"), "\(causes)")
            #expect(try OperatorAddressTests.value("feed_oldest_held_seconds", admin) ?? 0 > 4)
            // The votes have no answer yet, and are counted with the time that they have waited.
            let name = "feed_call_duration_seconds_bucket{method=\"cast_vote\",le=\"2.5\"}"
            let quick = try OperatorAddressTests.value(name, admin) ?? 0
            let all = try OperatorAddressTests.value(
                name.replacing("le=\"2.5\"", with: "le=\"+Inf\""),
                admin
            )
            #expect((all ?? 0) - quick == 2)
            try Self.expectWaitsInHistory(admin)
            gate.open()
            for id in [ids[0], ids[3], again[0]] {
                let answer = try #require(try voter.receive())
                #expect(answer.id == id)
                guard case .castVote = answer.response else {
                    Issue.record("\(answer)")
                    continue
                }
            }
            // The two votes of the voter were counted, and no refused one.
            guard case .post(let found) = try reader.call(read).response else {
                Issue.record("The post cannot be read.")
                return
            }
            #expect(found.upvoteCount == 2)
            #expect(try OperatorAddressTests.get("/ready", admin).hasSuffix("\r\n\r\nready\n"))
        }
        let stalls = lines.all.filter {
            $0.contains("commit has stood still") || $0.contains("commits go on")
        }
        #expect(stalls.count == 2, "\(stalls)")
        #expect(stalls.first == "error: a commit has stood still for 2 s: the disk does not answer")
        #expect(stalls.last?.hasPrefix("notice: commits go on, after ") == true)
    }

    @Test("a backup that hangs is a line and a metric, and no cause not to be ready")
    func tellsOfABackup() async throws {
        let lines = LoggedLines()
        let directory = try TemporaryDirectory()
        let (gate, reserved) = (BackupGate(), try ReservedPort())
        try await withService(logger: lines.logger) {
            var state = StateOptions(path: directory.path, logCount: $0.threadCount)
            state.journal.space.ballastByteCount = 1 << 20
            state.testHooks.backups.beforeCopyStep = { gate.pass() }
            $0.state = state
            $0.admin = .loopback(port: reserved.number)
        } _: { [admin = reserved.number] port in
            defer { gate.open() }
            let client = try WireClient(port: port)
            let name = "feed_backup_stood_still_seconds"
            #expect(try OperatorAddressTests.value(name, admin) == 0)
            _ = try client.send(.backup)
            gate.awaitStep()
            while try OperatorAddressTests.value(name, admin) == 0 {}
            #expect(try OperatorAddressTests.get("/ready", admin).hasSuffix("\r\n\r\nready\n"))
            #expect(
                try OperatorAddressTests.value("feed_checkpoint_stood_still_seconds", admin) == 0
            )
            gate.open()
            #expect(try client.receive()?.status == nil)
            while try OperatorAddressTests.value(name, admin) != 0 {}
        }
        let stalls = lines.all.filter { $0.contains("backup has stood") || $0.contains("goes on") }
        #expect(stalls.count == 2, "\(stalls)")
        #expect(stalls.first?.hasPrefix("error: a backup has stood still for 10 s") == true)
        #expect(stalls.last?.hasPrefix("notice: the backup goes on, after ") == true)
    }

    @Test("a loop that stands still is a line and a metric, and the service is not ready")
    func tellsOfALoop() async throws {
        let lines = LoggedLines()
        let (begun, gate, reserved) = (Semaphore(), Semaphore(), try ReservedPort())
        let isOpen = Locked(false)
        try await withService(logger: lines.logger) {
            $0.admin = .loopback(port: reserved.number)
            $0.limits.stallLimit = .seconds(3)
            // A sign-in asks for the time on its loop.
            $0.signInClock = {
                if !isOpen.withLock({ $0 }) {
                    begun.signal()
                    gate.wait()
                }
                return .now
            }
        } _: { [admin = reserved.number] port in
            let client = try WireClient(port: port)
            let name = "feed_loop_stalled_seconds{loop=\"0\"}"
            #expect(try OperatorAddressTests.value(name, admin) == 0)
            try client.send(.signIn(SignInRequest(email: "a@x", password: "password")))
            begun.wait()
            while try OperatorAddressTests.value(name, admin) ?? 0 < 3 {}
            #expect(try OperatorAddressTests.get("/ready", admin).hasPrefix("HTTP/1.1 503"))
            isOpen.withLock { $0 = true }
            gate.signal()
            #expect(try client.receive()?.status?.reason == .badCredentials)
            while try OperatorAddressTests.value(name, admin) != 0 {}
            #expect(try OperatorAddressTests.get("/ready", admin).hasSuffix("\r\n\r\nready\n"))
        }
        let stalls = lines.all.filter { $0.contains("event loop 0") }
        #expect(stalls.count == 2, "\(stalls)")
    }
}
