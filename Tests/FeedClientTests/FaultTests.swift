import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// The errors that callers get when the service, or the way to it, misbehaves.
@Suite(.timeLimit(.minutes(10))) struct FaultTests {
    @Test func matchesAnswersThatComeOutOfOrder() async throws {
        let held = Locked<[ClientFrame]>([])
        let script: ScriptedService.Script = { frame in
            held.withLock { held in
                held.append(frame)
                return held.count < 3 ? [] : held.reversed().map(voteAnswer)
            }
        }
        try await withScript(script) { client, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in (1...3).map(PostID.init(rawValue:)) {
                    group.addTask {
                        let counts = try await client.vote(on: id, .up)
                        #expect(counts.postID == id)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(
        "the peer breaks the protocol",
        arguments: [
            [UInt8](repeating: 0, count: 4), [0xff, 0xff, 0xff, 0xff], [0, 0, 0, 2, 0xff, 0xff],
            RawMessage().field(1, 4_711).framed,
        ]
    )
    func endsAllCallsAfterGarbage(_ bytes: [UInt8]) async throws {
        let script: ScriptedService.Script = { _ in [.bytes(bytes)] }
        try await withScript(script) { client, _ in
            let error = await failure {
                try await client.vote(on: 1, .up)
            }
            guard case .protocolViolation(_, effect: .unknown) = error
            else { throw Unexpected("Garbage ended a vote with \(String(describing: error))") }
            // The next call goes over a connection of its own, and fares no better.
            let next = await failure {
                try await client.vote(on: 1, .up)
            }
            guard case .protocolViolation(_, effect: .unknown) = next else {
                throw Unexpected("Garbage ended the next vote with \(String(describing: next))")
            }
        }
    }

    @Test func anAnswerOfAnotherKindFailsItsCallAlone() async throws {
        let script: ScriptedService.Script = { frame in
            guard case .castVote = frame.request else {
                return [.answer(ServerFrame(id: frame.id, revision: 1, response: .empty))]
            }
            return [voteAnswer(frame)]
        }
        try await withScript(script) { client, _ in
            let error = await failure {
                try await client.getPost(1)
            }
            guard case .protocolViolation(_, effect: .none) = error else {
                throw Unexpected("A wrong answer ended a read with \(String(describing: error))")
            }
            let counts = try await client.vote(on: 1, .up)
            #expect(counts.score == 1)
        }
    }

    @Test("the connection is cut with calls in flight", arguments: [true, false])
    func asksReadsAgainAndLeavesVotesInDoubt(byReset: Bool) async throws {
        let count = Locked(0)
        let script: ScriptedService.Script = { frame in
            let number = count.withLock {
                $0 += 1
                return $0
            }
            switch number {
            case 1: return []
            case 2: return [byReset ? .reset : .endOutput]
            default: return [postAnswer(frame)]
            }
        }
        try await withScript(script) { client, _ in
            async let vote = failure {
                try await client.vote(on: 1, .up)
            }
            async let read = client.getPost(1)
            let post = try await read
            #expect(post.id == 1)
            let error = await vote
            guard case .connectionLost(_, effect: .unknown) = error else { throw Unexpected(error) }
        }
    }

    @Test func aSlowAnswerMissesItsDeadlineAndIsIgnored() async throws {
        let slow = Locked<ClientFrame?>(nil)
        let script: ScriptedService.Script = { frame in
            slow.withLock { slow in
                guard let first = slow else {
                    slow = frame
                    return []
                }
                return [voteAnswer(first), voteAnswer(frame)]
            }
        }
        try await withScript(script) { client, service in
            let error = await failure {
                try await client.vote(on: 1, .up, timeout: .seconds(1))
            }
            #expect(error == .deadlinePassed(timeout: .seconds(1), effect: .unknown))
            let counts = try await client.vote(on: 2, .up)
            #expect(counts.postID == 2)
            var frames = service.received.makeAsyncIterator()
            _ = await frames.next()
            let sent = try #require(await frames.next())
            #expect((1...1_000).contains(sent.timeoutMilliseconds))
        }
    }

    @Test func aCallThatFoundNoRoomIsNotExecuted() async throws {
        let votes = Locked(0)
        let script: ScriptedService.Script = { _ in
            votes.withLock { $0 += 1 }
            return []
        }
        try await withScript(inFlight: 1, script) { client, service in
            let first = Task {
                await failure {
                    try await client.vote(on: 1, .up)
                }
            }
            var frames = service.received.makeAsyncIterator()
            _ = await frames.next()
            _ = await frames.next()
            let error = await failure {
                try await client.vote(on: 2, .up, timeout: .milliseconds(20))
            }
            #expect(error == .deadlinePassed(timeout: .milliseconds(20), effect: .none))
            first.cancel()
            #expect(await first.value == .cancelled(effect: .unknown))
            #expect(votes.withLock { $0 } == 1)
        }
    }

    @Test func theServicesWordOnADeadlineIsADeadline() async throws {
        let script: ScriptedService.Script = { frame in
            let status = Status(
                code: .deadlineExceeded,
                reason: .deadlineExceeded,
                message: "too late"
            )
            return [.answer(ServerFrame(id: frame.id, revision: 1, status: status))]
        }
        try await withScript(script) { client, _ in
            let error = await failure {
                try await client.vote(on: 1, .up)
            }
            let timeout = ClientConfiguration.patient.timeout
            #expect(error == .deadlinePassed(timeout: timeout, effect: .none))
        }
    }

    @Test func aRefusalCarriesAllThatTheServiceSaid() async throws {
        let status = Status(
            code: .resourceExhausted,
            reason: .overloaded,
            message: "busy",
            retryAfterMilliseconds: 250,
            violations: [FieldViolation(field: "a", reason: .badField, limit: 1, actual: 2)]
        )
        let script: ScriptedService.Script = { frame in
            [.answer(ServerFrame(id: frame.id, revision: 1, status: status))]
        }
        var configuration = ClientConfiguration.patient
        configuration.retry = .never
        try await withScript(configuration: configuration, script) { client, _ in
            let error = await failure {
                try await client.vote(on: 1, .up)
            }
            #expect(error == .refused(status))
            #expect(error?.retryAfter == .milliseconds(250))
            #expect(error?.effect == CallEffect.none)
        }
    }

    @Test func aRequestOverTheFrameLimitIsNotSent() async throws {
        let script: ScriptedService.Script = { [voteAnswer($0)] }
        try await withScript(script) { client, _ in
            let error = await failure {
                try await client.createPost(PostDraft(text: String(repeating: "x", count: 1 << 20)))
            }
            guard case .requestTooLarge(let byteCount, let limit) = error else {
                throw Unexpected("A frame over the limit ended with \(String(describing: error))")
            }
            #expect(byteCount > limit)
            #expect(limit == 1 << 20)
            let counts = try await client.vote(on: 1, .up)
            #expect(counts.score == 1)
        }
    }
}
