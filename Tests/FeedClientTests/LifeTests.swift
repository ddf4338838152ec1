import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// Connecting, GoAway, keep-alive, cancelling and closing.
@Suite(.timeLimit(.minutes(10))) struct LifeTests {
    static func connect(
        _ address: String,
        _ configuration: ClientConfiguration = ClientConfiguration()
    ) async -> FeedClientError? {
        await failure {
            try await FeedClient.connect(to: address, configuration: configuration)
        }
    }

    @Test(arguments: ["nonsense", "127.0.0.1", "127.0.0.1:99999", "1.2.3:80", "a b:80"])
    func saysWhatIsWrongWithAnAddress(_ address: String) async throws {
        guard case .badAddress(let reason) = await Self.connect(address)
        else { throw Unexpected("\(address) was taken for an address.") }
        #expect(reason.contains(address))
    }

    @Test func saysThatNothingListens() async throws {
        let nobody = try ReservedPort()
        defer { withExtendedLifetime(nobody) {} }
        guard case .cannotConnect(let reason) = await Self.connect(nobody.address)
        else { throw Unexpected("A connection to nobody came about.") }
        #expect(reason.contains("refused"))
    }

    @Test func introducesItself() async throws {
        var configuration = ClientConfiguration.patient
        configuration.clientName = "tester/1"
        configuration.clientID = ClientID()
        try await withScript(configuration: configuration, silence) { client, service in
            var frames = service.received.makeAsyncIterator()
            guard case .hello(let hello) = await frames.next()?.request
            else { throw Unexpected("The first call is no Hello.") }
            #expect(hello.clientName == "tester/1")
            #expect(hello.clientID == configuration.clientID?.bytes)
            #expect(client.service?.serverName == "scripted")
        }
    }

    @Test func aServiceThatDoesNotAnswerHelloIsNotWaitedForForEver() async throws {
        let service = try await ScriptedService.start(answersHello: false) { _ in [] }
        var configuration = ClientConfiguration.patient
        configuration.connectTimeout = .seconds(1)
        let error = await Self.connect(service.address, configuration)
        // On a busy machine the second may be over before the client has seen the connection open.
        switch error {
        case .deadlinePassed(timeout: .seconds(1), effect: .none), .cannotConnect: break
        default: Issue.record("Silence ended Hello with \(String(describing: error))")
        }
        await service.stop()
    }

    @Test func aServiceMayRefuseTheConnection() async throws {
        let status = Status(code: .resourceExhausted, reason: .tooManyConnections, message: "full")
        let service = try await ScriptedService.start(answersHello: false) { _ in
            [.answer(ServerFrame(id: 0, revision: 0, status: status)), .endOutput]
        }
        #expect(await Self.connect(service.address) == .refused(status))
        await service.stop()
    }

    @Test func finishesWhatTheServiceTookAndMovesTheRest() async throws {
        let votes = Locked<[ClientFrame]>([])
        let script: ScriptedService.Script = { frame in
            votes.withLock { votes in
                votes.append(frame)
                if votes.count < 3 { return [] }
                if votes.count > 3 { return [voteAnswer(frame)] }
                let goAway = GoAway(
                    lastID: votes[1].id,
                    drainMilliseconds: 1_000,
                    reason: .draining
                )
                return [.answer(ServerFrame(id: 0, revision: 1, response: .goAway(goAway)))]
                    + votes[..<2].map(voteAnswer) + [.endOutput]
            }
        }
        try await withScript(inFlight: 3, script) { client, _ in
            let errors = await withTaskGroup(of: FeedClientError?.self) { group in
                for id in (1...5).map(PostID.init(rawValue:)) {
                    group.addTask {
                        await failure {
                            try await client.vote(on: id, .up)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(errors.allSatisfy { $0 == nil }, "\(errors)")
            // Three before the GoAway; the third of them and two more over the next connection.
            #expect(votes.withLock { $0.count } == 6)
        }
    }

    @Test func pingsAServiceThatIsNotTalkedTo() async throws {
        var configuration = ClientConfiguration.patient
        configuration.keepAliveInterval = .milliseconds(40)
        configuration.keepAliveTimeout = .seconds(3_600)
        let script: ScriptedService.Script = { frame in
            guard case .ping = frame.request else { return [voteAnswer(frame)] }
            let pong = PingResponse(payload: [], serving: .serving)
            return [.answer(ServerFrame(id: frame.id, revision: 1, response: .ping(pong)))]
        }
        try await withScript(configuration: configuration, script) { client, service in
            var pings = 0
            for await frame in service.received {
                if case .ping = frame.request { pings += 1 }
                if pings == 3 { break }
            }
            let counts = try await client.vote(on: 1, .up)
            #expect(counts.score == 1)
        }
    }

    /// The service never says a word, not even Hello: only the client's patience can end this.
    @Test func givesUpAServiceWithoutASignOfLife() async throws {
        let service = try await ScriptedService.start(answersHello: false) { _ in [] }
        var configuration = ClientConfiguration.patient
        configuration.connectTimeout = .seconds(3_600)
        configuration.keepAliveInterval = .milliseconds(40)
        configuration.keepAliveTimeout = .milliseconds(40)
        let error = await Self.connect(service.address, configuration)
        guard case .connectionLost(let reason, effect: .none) = error
        else { throw Unexpected("A dead service ended a call with \(String(describing: error))") }
        #expect(reason.contains("sign of life"))
        await service.stop()
    }

    /// Pings are written without asking whether they fit, so such a limit must not be taken.
    @Test func doesNotBelieveAFrameLimitThatNothingFitsInto() async throws {
        let script: ScriptedService.Script = { frame in
            let response: Response
            switch frame.request {
            case .hello: response = ScriptedService.hello(inFlight: 1, frameByteCount: 1)
            case .ping: response = .ping(PingResponse(payload: [], serving: .serving))
            default: return [voteAnswer(frame)]
            }
            return [.answer(ServerFrame(id: frame.id, revision: 1, response: response))]
        }
        var configuration = ClientConfiguration.patient
        configuration.keepAliveInterval = .milliseconds(40)
        configuration.keepAliveTimeout = .seconds(3_600)
        try await withScript(answersHello: false, configuration: configuration, script) {
            client,
            service in
            for await frame in service.received { if case .ping = frame.request { break } }
            let counts = try await client.vote(on: 1, .up)
            #expect(counts.score == 1)
        }
    }

    @Test(arguments: [Duration.seconds(-1), .seconds(Int64.min), .zero])
    func aCallWithoutTimeIsNotSent(_ timeout: Duration) async throws {
        let script: ScriptedService.Script = { [voteAnswer($0)] }
        try await withScript(script) { client, _ in
            let error = await failure {
                try await client.vote(on: 1, .up, timeout: timeout)
            }
            #expect(error == .deadlinePassed(timeout: .zero, effect: .none))
            let counts = try await client.vote(on: 1, .up, timeout: .seconds(Int64.max))
            #expect(counts.score == 1)
        }
    }

    @Test("a cancelled call ends, and its late answer disturbs nobody")
    func cancelsACallInFlight() async throws {
        let held = Locked<ClientFrame?>(nil)
        let script: ScriptedService.Script = { frame in
            held.withLock { held in
                guard let first = held else {
                    held = frame
                    return []
                }
                return [voteAnswer(first), voteAnswer(frame)]
            }
        }
        try await withScript(script) { client, service in
            let task = Task { await failure { try await client.vote(on: 1, .up) } }
            var frames = service.received.makeAsyncIterator()
            _ = await frames.next()
            _ = await frames.next()
            task.cancel()
            #expect(await task.value == .cancelled(effect: .unknown))
            let counts = try await client.vote(on: 2, .up)
            #expect(counts.postID == 2)
        }
    }

    @Test func aCancelledTaskCallsNobody() async throws {
        let calls = Locked(0)
        let script: ScriptedService.Script = { _ in
            calls.withLock { $0 += 1 }
            return []
        }
        try await withScript(script) { client, _ in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return await failure {
                    try await client.vote(on: 1, .up)
                }
            }
            task.cancel()
            #expect(await task.value == .cancelled(effect: .none))
            #expect(calls.withLock { $0 } == 0)
        }
    }

    @Test func closingFinishesTheCallsBeforeIt() async throws {
        let held = Locked<[ClientFrame]>([])
        let script: ScriptedService.Script = { frame in
            held.withLock { held in
                held.append(frame)
                return held.count < 2 ? [] : held.map(voteAnswer)
            }
        }
        let service = try await ScriptedService.start(script)
        let client = try await FeedClient.connect(to: service.address)
        async let first = client.vote(on: 1, .up)
        async let second = client.vote(on: 2, .up)
        // Both have to be made before the client is closed, which their frames show.
        var frames = service.received.makeAsyncIterator()
        for _ in 0..<3 { _ = await frames.next() }
        await client.close()
        #expect(try await first.postID == 1)
        #expect(try await second.postID == 2)
        let error = await failure {
            try await client.vote(on: 3, .up)
        }
        #expect(error == .closed)
        await client.close()
        await service.stop()
    }

    @Test func aClientThatNobodyHoldsClosesByItself() async throws {
        let service = try await ScriptedService.start(silence)
        _ = try await FeedClient.connect(to: service.address)
        for await frame in service.received { #expect(frame.id == 1) }
        await service.stop()
    }
}
