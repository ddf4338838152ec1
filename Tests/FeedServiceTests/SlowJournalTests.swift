import FeedConcurrency
import FeedDiskFaults
import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// A disk that stands still for a while (T-DISK-5).
@Suite(.serialized, .timeLimit(.minutes(10))) struct SlowJournalTests {
    @Test("no answer shows a change before it is durable: to no voter, reader or refused caller")
    func holdsAnswers() async throws {
        try await withGatedService { port, gate in
            let voter = try WireClient(port: port)
            let reader = try WireClient(port: port)
            let id = try voter.createPost(title: "a")
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            gate.close()
            try voter.send(vote)
            try gate.awaitHeldAnswer(port)
            #expect(voter.socket.receiveWithoutWaiting().isEmpty)
            // Once the commit of the second vote waits, all that came with it is executed, too.
            let requests = [
                Request.getPost(GetPostRequest(id: id)), .getPost(GetPostRequest(id: 99)), vote,
            ]
            try reader.socket.send(
                try requests.flatMap {
                    try ClientFrame(id: reader.nextID(), request: $0).encoded()
                }
            )
            gate.letOneThrough()
            gate.awaitCommit()
            #expect(try voter.receive()?.status == nil)
            try JournalGate.awaitIterations(port)
            #expect(reader.socket.receiveWithoutWaiting().isEmpty)
            gate.open()
            let answers = try (0..<3).map { _ in try reader.receive() }
            guard case .post(let post) = answers[0]?.response,
                case .castVote(let counts) = answers[2]?.response
            else { throw Unexpected(answers) }
            #expect(post.upvoteCount == 1)
            #expect(answers[1]?.status?.reason == .postNotFound)
            #expect(counts.upvoteCount == 2)
        }
    }

    @Test("answers of many sizes that waited come in order, those of a connection that left aside")
    func sendsWhatWaitedInOrder() async throws {
        try await withGatedService { port, gate in
            let voter = try WireClient(port: port)
            let large = try OverloadTests.createLargePost(voter)
            let small = try voter.createPost(title: "small")
            gate.close()
            try voter.send(.castVote(CastVoteRequest(postID: small, direction: .up)))
            gate.awaitCommit()
            let readers = try (0..<3).map { _ in try WireClient(port: port) }
            let count: UInt64 = 40
            for number in 1...count {
                let id = number.isMultiple(of: 3) ? small : large
                for reader in readers { try reader.send(.getPost(GetPostRequest(id: id))) }
            }
            readers[1].socket.reset()
            gate.open()
            for reader in [readers[0], readers[2]] {
                for number in 1...count {
                    let answer = try reader.receive()
                    #expect(answer?.id == number)
                    guard case .post(let post) = answer?.response else { throw Unexpected(answer) }
                    #expect(post.id == (number.isMultiple(of: 3) ? small : large))
                }
            }
            #expect(try voter.receive()?.status == nil)
            #expect(try voter.vote(small).upvoteCount == 2)
            #expect(try voter.serverStats().bufferedByteCount == 0)
        }
    }

    @Test("an import for which the imports under way leave no room is refused unexecuted")
    func boundsImportsUnderWay() async throws {
        let directory = try TemporaryDirectory()
        try await withClient {
            var state = StateOptions(path: directory.path, logCount: $0.threadCount)
            state.journal.space.ballastByteCount = 1 << 20
            // Records of 764 KiB: all imports together may log 350 KiB.
            state.journal.segmentByteCount = 1 << 20
            $0.state = state
        } _: { client in
            let posts = [Post](
                repeating: Post(title: "import", text: String(repeating: "x", count: 10_000)),
                count: 40
            )
            let refusal = try client.call(.importPosts(ImportPostsRequest(posts: posts))).status
            #expect(refusal?.reason == .overloaded)
            #expect(refusal?.isNotExecuted == true)
            #expect(refusal?.retryAfterMilliseconds == 1000)
            // Refused imports take no room: imports that fit together are taken one by one.
            for number in 0..<10 {
                let request = ImportPostsRequest(posts: Array(posts.prefix(20)))
                let answer = try client.call(.importPosts(request))
                guard case .importPosts(let response) = answer.response
                else { throw Unexpected(answer) }
                #expect(response.ids.first?.rawValue == UInt64(20 * number + 1))
            }
            #expect(try client.serverStats().postCount == 200)
        }
    }

    @Test(
        "T-DISK-5: the changes that wait for a slow disk are bounded, others are refused unexecuted"
    )
    func boundsWhatWaits() async throws {
        try await withGatedService { port, gate in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "a")
            gate.close()
            try client.send(.castVote(CastVoteRequest(postID: id, direction: .up)))
            gate.awaitCommit()
            // More than may wait by far: of 60 MB the kernel keeps some, and 24 MiB are taken.
            let text = String(repeating: "x", count: 10_000)
            let posts = [Post](repeating: Post(title: "import", text: text), count: 100)
            let frameCount = 60
            let importer = try WireClient(port: port)
            for _ in 0..<frameCount {
                try importer.send(.importPosts(ImportPostsRequest(posts: posts)))
            }
            gate.open()
            var taken: [PostID] = []
            var refused = 0
            for _ in 0..<frameCount {
                let answer = try importer.receive()
                switch answer?.response {
                case .importPosts(let response): taken += response.ids
                default:
                    refused += 1
                    #expect(answer?.status?.reason == .overloaded)
                    #expect(answer?.status?.isNotExecuted == true)
                }
            }
            #expect(taken.count / 100 >= 24)
            #expect(refused >= 10)
            // At most one import more than the limit, which is looked at before each.
            #expect(gate.largestByteCount > 20 << 20)
            #expect(gate.largestByteCount < (24 << 20) + (2 << 20))
            // Then it serves as before, with the posts of its answers and no others.
            #expect(try client.receive()?.status == nil)
            let stats = try client.serverStats()
            #expect(stats.postCount == UInt64(taken.count) + 1)
            #expect(try client.vote(id).upvoteCount == 2)
        }
    }
}

/// A disk whose journal is quick and on which `state.db` stands still.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SlowCheckpointTests {
    private static func withGate(
        timeOfDay: (@Sendable () -> Int64)? = nil,
        _ body: @escaping @Sendable (UInt16, SyncGate) throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let gate = SyncGate()
        try await withService {
            var state = StateOptions(path: directory.path, logCount: $0.threadCount)
            state.databaseFileSystem = gate.name
            state.checkpointByteCount = 1 << 20
            state.journal.segmentByteCount = 4 << 20
            state.journal.space.ballastByteCount = 1 << 20
            $0.state = state
            if let timeOfDay { $0.timeOfDay = timeOfDay }
        } _: { port in
            // However it ends, the service can end.
            defer { gate.open() }
            try body(port, gate)
        }
    }

    /// Imports large texts until one import is refused; gives the refusal, and how many were taken.
    private static func fill(_ client: WireClient) throws -> (refusal: Status, taken: Int) {
        let text = String(repeating: "x", count: 9_000)
        let posts = [Post](repeating: Post(title: "import", text: text), count: 100)
        var taken = 0
        while true {
            let answer = try client.call(.importPosts(ImportPostsRequest(posts: posts)))
            guard let status = answer.status else {
                taken += 1
                continue
            }
            return (status, taken)
        }
    }

    private static func journal(_ client: WireClient) throws -> JournalStats {
        try #require(try client.serverStats().journal)
    }

    @Test("a checkpoint that stands still holds up no read or Ping; changes are refused in time")
    func answersWhileCheckpointingStandsStill() async throws {
        try await Self.withGate { port, gate in
            let voter = try WireClient(port: port)
            _ = try voter.call(
                .hello(HelloRequest(clientID: [UInt8](repeating: 7, count: 16), channel: 1))
            )
            let id = try voter.createPost(title: "a")
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            #expect(try voter.call(vote, sequence: 1).status == nil)
            gate.close()
            let (refusal, taken) = try Self.fill(try WireClient(port: port))
            // Not before half of five megabytes, and not after all of them.
            #expect((2...6).contains(taken))
            #expect(refusal.code == .resourceExhausted)
            #expect(refusal.reason == .overloaded)
            #expect(refusal.isNotExecuted)
            #expect((50...1_000).contains(refusal.retryAfterMilliseconds))
            #expect(refusal.message.contains("state database"))
            let newcomer = try WireClient(port: port)
            #expect(try newcomer.call(.ping(PingRequest())).status == nil)
            #expect(try newcomer.call(.getPost(GetPostRequest(id: id))).status == nil)
            // A repeat changes nothing, and is answered with its recorded outcome.
            let repeated = try voter.call(vote, sequence: 1)
            guard case .castVote(let counts) = repeated.response
            else { throw Unexpected(repeated) }
            #expect(counts.upvoteCount == 1)
            var stats = try Self.journal(newcomer).checkpoints
            // The checkpoint thread stands back, so it may not have begun yet.
            while stats.underWayMicroseconds == 0 {
                stats = try Self.journal(newcomer).checkpoints
            }
            #expect(stats.backlogByteCount >= stats.backlogLimitByteCount / 2)
            #expect(stats.backlogLimitByteCount == 5 << 20)
            #expect(stats.refusedCount >= 1)
        }
    }

    @Test("a change that the clock refuses is not counted as refused by checkpoints")
    func countsRefusalsByTheirCause() async throws {
        let jump = Locked<Int64>(0)
        let timeOfDay: @Sendable () -> Int64 = {
            Int64(Date.now.timeIntervalSince1970 * 1000) + jump.withLock { $0 }
        }
        try await Self.withGate(timeOfDay: timeOfDay) { port, gate in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "a")
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            gate.close()
            var stats = try Self.journal(client).checkpoints
            while stats.backlogByteCount < stats.backlogLimitByteCount {
                _ = try Self.fill(client)
                stats = try Self.journal(client).checkpoints
            }
            // No change is taken any more, and each refusal is counted.
            #expect(try client.call(vote).status?.reason == .overloaded)
            let counted = try Self.journal(client).checkpoints.refusedCount
            #expect(try client.call(vote).status?.reason == .overloaded)
            #expect(try Self.journal(client).checkpoints.refusedCount == counted + 1)
            // A Hello for a new channel is no change; the change that opens it late is one.
            let newcomer = try WireClient(port: port)
            let hello = try MissingChannelTests.Support.helloed(newcomer)
            #expect(hello.channelStatus?.reason == .overloaded)
            #expect(try Self.journal(client).checkpoints.refusedCount == counted + 1)
            #expect(try newcomer.call(vote, sequence: 1).status?.reason == .overloaded)
            #expect(try Self.journal(client).checkpoints.refusedCount == counted + 2)
            jump.withLock { $0 = 3_600_000 }
            let create = Request.createPost(CreatePostRequest(post: Post(title: "b")))
            #expect(try client.call(create).status?.reason == .clockJumped)
            for _ in 0..<10 { #expect(try client.call(vote).status?.reason == .clockJumped) }
            #expect(try Self.journal(client).checkpoints.refusedCount == counted + 2)
        }
    }

    @Test("votes are slowed and then refused while checkpointing stands still, each is answered")
    func answersEveryVote() async throws {
        try await Self.withGate { port, gate in
            let voter = try WireClient(port: port)
            let id = try voter.createPost(title: "a")
            gate.close()
            _ = try Self.fill(try WireClient(port: port))
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            var counted: UInt64 = 0
            for _ in 0..<20 {
                for _ in 0..<64 { try voter.send(vote) }
                for _ in 0..<64 {
                    let answer = try #require(try voter.receive())
                    guard let status = answer.status else {
                        counted += 1
                        continue
                    }
                    #expect(status.reason == .overloaded && status.isNotExecuted)
                    #expect(status.retryAfterMilliseconds >= 50)
                }
            }
            gate.open()
            // Once there is room all are taken again, those that were refused were not counted.
            while true {
                let answer = try voter.call(vote)
                guard case .castVote(let counts) = answer.response else { continue }
                #expect(counts.upvoteCount == counted + 1)
                break
            }
            while try Self.journal(voter).checkpoints.backlogByteCount > 1 << 20 {}
            for _ in 0..<64 { #expect(try voter.call(vote).status == nil) }
        }
    }

    @Test("segments are given back while the rest of a long backlog waits")
    func forgetsSegmentsDuringALongBacklog() async throws {
        try await Self.withGate { port, gate in
            let client = try WireClient(port: port)
            _ = try client.createPost(title: "a")
            gate.close()
            _ = try Self.fill(client)
            let before = try Self.journal(client)
            while true {
                gate.letOneThrough()
                gate.awaitSync()
                let stats = try Self.journal(client)
                guard stats.checkpointedPosition > before.checkpointedPosition else { continue }
                #expect(stats.checkpointedPosition < stats.durablePosition)
                #expect(stats.checkpoints.backlogByteCount > 0)
                break
            }
        }
    }
}

/// A service with a disk that hangs: a sync of the journal does not return.
@Suite(.serialized, .timeLimit(.minutes(2))) struct StallTests {
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
            guard case .post(let found) = try reader.call(read).response
            else { throw Unexpected("The post cannot be read.") }
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
