import FeedClient
import FeedClientTesting
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Clients that connect with their first call, and what they know of who is signed in.
@Suite(.timeLimit(.minutes(10))) struct ConnectingTests {
    @Test func aClientIsMadeWithoutANetworkAndItsFirstCallWaitsForTheService() async throws {
        let port = try ReservedPort()
        let tries = Locked<CheckedContinuation<Void, Never>?>(nil)
        var configuration = ClientConfiguration.patient
        configuration.whenWaiting = { _ in tries.withLock { $0.take() }?.resume() }
        let client = try FeedClient(to: port.address, configuration: configuration)
        #expect(client.service == nil)
        #expect(client.user == nil)
        let call = Task { try await client.feeds() }
        // The service starts once a try to connect has failed.
        await withCheckedContinuation { continuation in tries.withLock { $0 = continuation } }
        let server = try FeedServer.startQuietly(port: port.number)
        #expect(try await call.value.map(\.name) == ["posts", "tweets"])
        #expect(client.service?.serverName.hasPrefix("feed-service/") == true)
        await client.close()
        try await server.drain()
    }

    @Test func aCallWithoutAServiceEndsWithWhatPreventsTheConnection() async throws {
        let nobody = try ReservedPort()
        let client = try FeedClient(to: nobody.address)
        let error = await failure { try await client.ping(timeout: .milliseconds(50)) }
        guard case .cannotConnect(let reason) = error else {
            throw Unexpected("The call ended with \(String(describing: error)).")
        }
        #expect(reason.contains("refused"))
        await client.close()
    }

    @Test func connectingSaysAtOnceThatThereIsNoService() async throws {
        let nobody = try ReservedPort()
        let client = try FeedClient(to: nobody.address, configuration: .patient)
        for _ in 0..<2 {
            guard case .cannotConnect = await failure({ try await client.connect() }) else {
                throw Unexpected("A connection to nobody came about.")
            }
        }
        let server = try FeedServer.startQuietly(port: nobody.number)
        let service = try await client.connect()
        #expect(try await client.connect() == service)
        #expect(client.service == service)
        await client.close()
        #expect(await failure { try await client.connect() } == .closed)
        try await server.drain()
    }

    @Test func anAddressThatIsNoneIsAnErrorAtOnce() {
        #expect(throws: FeedClientError.self) { try FeedClient(to: "nonsense") }
        #expect(throws: FeedClientError.self) { try FeedClient(to: [String]()) }
    }

    @Test func theChangesOfTheUserAreSignInsSignOutsAndAnEndedSession() async throws {
        let server = try FeedServer.startQuietly()
        let address = try #require(server.addresses.first).description
        var configuration = ClientConfiguration.patient
        configuration.connectionCount = 3
        let client = try FeedClient(to: address, configuration: configuration)
        var changes = client.userChanges.makeAsyncIterator()
        #expect(await changes.next() == .some(nil))
        let ada = try await client.signUp(email: "ada@example.org", password: "secret").user
        #expect(client.user == ada)
        #expect(await changes.next() == .some(ada))
        // A Hello of another connection says the same of the user.
        for _ in 0..<3 { _ = try await client.listPosts() }
        #expect(client.user == ada)
        try await client.signOut()
        #expect(client.user == nil)
        #expect(await changes.next() == .some(nil))
        let session = try await client.signIn(email: "ada@example.org", password: "secret")
        #expect(await changes.next() == .some(ada))

        // Another client ends all sessions.
        configuration.sessionToken = session.secret
        let other = try await FeedClient.connect(to: address, configuration: configuration)
        #expect(other.user == ada)
        try await other.signOut(everywhere: true)
        await other.close()
        guard case .refused(let status) = await failure({ try await client.session() }) else {
            throw Unexpected("The session has not ended.")
        }
        #expect(status.reason == .sessionExpired)
        try #require(client.user == nil)
        #expect(await changes.next() == .some(nil))
        var later = client.userChanges.makeAsyncIterator()
        #expect(await later.next() == .some(nil))
        await client.close()
        #expect(await changes.next() == nil)
        #expect(await later.next() == nil)
        var closed = client.userChanges.makeAsyncIterator()
        #expect(await closed.next() == .some(nil))
        #expect(await closed.next() == nil)
        try await server.drain()
    }

    @Test func theUserOfAStoredSessionIsKnownWithoutANetwork() async throws {
        let directory = try TemporaryDirectory()
        let port = try ReservedPort()
        var configuration = ClientConfiguration.patient
        let store = FileSessionStore(path: directory.path + "/session")
        configuration.sessionStore = store
        let server = try FeedServer.startQuietly(port: port.number)
        var client = try FeedClient(to: port.address, configuration: configuration)
        let ada = try await client.signUp(email: "ada@example.org", password: "secret").user
        await client.close()
        client = try FeedClient(to: port.address, configuration: configuration)
        #expect(client.user == User(id: ada?.id ?? 0, displayName: ""))
        _ = try await client.feeds()
        #expect(client.user == ada)
        await client.close()
        try await server.drain()

        // Another state does not know the session: the first call says so.
        let second = try FeedServer.startQuietly(port: port.number)
        client = try FeedClient(to: port.address, configuration: configuration)
        #expect(client.user?.id == ada?.id)
        guard case .refused(let status) = await failure({ try await client.feeds() }) else {
            throw Unexpected("The session has not ended.")
        }
        #expect(status.reason == .sessionExpired)
        #expect(status.isNotExecuted)
        #expect(client.user == nil)
        #expect(store.load() == nil)
        _ = try await client.feeds()
        await client.close()
        try await second.drain()
    }

    /// Two connections of a client learn of its session at different moments.
    @Test func whatIsSaidOfAnotherSessionSaysNothingOfTheUser() throws {
        let old = [UInt8](repeating: 1, count: Secret.byteCount)
        let new = [UInt8](repeating: 2, count: Secret.byteCount)
        let (ada, bob) = (User(id: 1, displayName: "Ada"), User(id: 2, displayName: "Bob"))
        func hello(_ user: User?) -> HelloResponse {
            var hello = HelloResponse(
                serverName: "",
                instanceID: 1,
                serverTimeMilliseconds: 0,
                limits: nil
            )
            hello.user = user
            return hello
        }
        let knowledge = ClientKnowledge(token: Secret(bytes: old), userID: 1)
        knowledge.take(.greeted(hello(ada), token: old))
        #expect(knowledge.user.value == ada)
        knowledge.take(
            .signedIn(UserSession(token: new, user: bob, expireTimeMilliseconds: 1))
        )
        knowledge.take(.greeted(hello(ada), token: old))
        let status = Status(code: .unauthenticated, reason: .sessionExpired, message: "over")
        knowledge.take(.ended(EndedSession(token: old, status: status)))
        #expect(knowledge.user.value == bob)
        #expect(knowledge.leaveSession() == new)
        knowledge.take(.greeted(hello(bob), token: new))
        #expect(knowledge.user.value == nil)
        #expect(knowledge.leaveSession() == [])
    }

    @Test func aTaskGetsTheNewestUserAndAStreamThatIsLeftIsForgotten() async {
        let user = CurrentUser(nil)
        var changes = user.changes.makeAsyncIterator()
        for id in 1...3 { user.set(User(id: UserID(rawValue: UInt64(id)), displayName: "a")) }
        user.set(User(id: 3, displayName: "a"))
        #expect(await changes.next() == .some(User(id: 3, displayName: "a")))
        user.set(nil)
        #expect(await changes.next() == .some(nil))
        do { _ = user.changes }
        #expect(user.followerCount == 1)
    }
}

/// Sign-outs with and without a service.
@Suite(.timeLimit(.minutes(10))) struct SignOutTests {
    /// Signs in over a service, with a store of the session.
    private static func run(
        _ body: (_ client: FeedClient, _ store: FileSessionStore, _ address: String) async throws ->
            Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let server = try FeedServer.startQuietly()
        let address = try #require(server.addresses.first).description
        var configuration = ClientConfiguration.patient
        configuration.clientID = ClientID()
        configuration.connectionCount = 2
        let store = FileSessionStore(path: directory.path + "/session")
        configuration.sessionStore = store
        let client = try FeedClient(to: address, configuration: configuration)
        try await client.signUp(email: "ada@example.org", password: "secret")
        try await body(client, store, address)
        await client.close()
        try await server.drain()
    }

    @Test func theCallsBehindASignOutAreNobodys() async throws {
        try await Self.run { client, store, _ in
            try await client.signOut()
            #expect(client.user == nil)
            #expect(store.load() == nil)
            let error = await failure { try await client.session() }
            #expect(error?.reason == .identityRequired)
            #expect(await failure { try await client.signOut() }?.reason == .identityRequired)
            // A sign-in behind it is kept.
            try await client.signIn(email: "ada@example.org", password: "secret")
            #expect(store.load() != nil)
            #expect(client.user?.displayName == "ada")
        }
    }

    /// The time of the call is over before it leaves, as it is without a network.
    @Test func aSignOutThatDoesNotReachTheServiceEndsTheSessionLater() async throws {
        try await Self.run { client, store, address in
            var configuration = ClientConfiguration.patient
            configuration.sessionToken = try #require(store.load()).token
            let other = try await FeedClient.connect(to: address, configuration: configuration)
            var watch = other.watch(PostWatch(.top(1))).makeAsyncIterator()
            _ = try await watch.next()
            try await client.signOut(timeout: .zero)
            #expect(client.user == nil)
            #expect(store.load() == nil)
            #expect(await failure { try await client.session() }?.reason == .identityRequired)
            let error = await failure { while try await watch.next() != nil {} }
            #expect(error?.reason == .sessionExpired)
            await other.close()
        }
    }

    /// More often than a call is sent.
    @Test func aSignOutThatIsRefusedForNowEndsTheSessionLater() async throws {
        var configuration = ClientConfiguration.patient
        configuration.sessionToken = Secret(bytes: Array(repeating: 7, count: Secret.byteCount))
        configuration.retry.baseDelay = .milliseconds(1)
        configuration.retry.maximumDelay = .milliseconds(1)
        let refusalCount = 2 * configuration.retry.maximumAttemptCount
        let signOutCount = Locked(0)
        let (ended, end) = AsyncStream<Void>.makeStream()
        let script: ScriptedService.Script = { frame in
            let count = signOutCount.withLock { count in
                count += 1
                return count
            }
            guard count > refusalCount else {
                return [.answer(ServerFrame(id: frame.id, revision: 1, status: .overloaded()))]
            }
            end.yield()
            return [.answer(ServerFrame(id: frame.id, revision: 1, response: .empty))]
        }
        try await withScript(configuration: configuration, script) { client, _ in
            try await client.signOut()
            var endings = ended.makeAsyncIterator()
            await endings.next()
        }
        #expect(signOutCount.withLock { $0 } == refusalCount + 1)
    }

    /// The service answers a sign-in together with the sign-out behind it.
    @Test func theSessionOfASignInThatASignOutHasPassedIsNotKept() async throws {
        let directory = try TemporaryDirectory()
        let store = FileSessionStore(path: directory.path + "/session")
        var configuration = ClientConfiguration.patient
        configuration.sessionStore = store
        let signInID = Locked<UInt64>(0)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let script: ScriptedService.Script = { frame in
            guard case .signOut = frame.request else {
                signInID.withLock { $0 = frame.id }
                begin.yield()
                return []
            }
            let session = UserSession(
                token: Array(repeating: 7, count: Secret.byteCount),
                user: User(id: 5, displayName: "ada"),
                expireTimeMilliseconds: 1
            )
            let id = signInID.withLock { $0 }
            return [
                .answer(ServerFrame(id: id, revision: 1, response: .session(session))),
                .answer(ServerFrame(id: frame.id, revision: 1, response: .empty)),
            ]
        }
        try await withScript(configuration: configuration, script) { client, _ in
            let signIn = Task { try await client.signIn(email: "a@b", password: "secret") }
            var begins = begun.makeAsyncIterator()
            await begins.next()
            try await client.signOut()
            _ = try await signIn.value
            #expect(client.user == nil)
            #expect(store.load() == nil)
        }
    }

    @Test func whoSignsOutEverywhereIsToldThatTheServiceDidNotHearOfIt() async throws {
        try await Self.run { client, store, _ in
            let error = await failure { try await client.signOut(everywhere: true, timeout: .zero) }
            #expect(error?.effect == CallEffect.none)
            #expect(client.user == nil)
            #expect(store.load() == nil)
        }
    }

    /// A store that notes whether somebody was signed in when it forgot the session.
    private final class NotingStore: SessionStore {
        let client = Locked<(any FeedCalling)?>(nil)
        let wasSignedIn = Locked<[Bool]>([])
        private let session = Locked<StoredSession?>(nil)

        func load() -> StoredSession? { session.withLock { $0 } }

        func save(_ new: StoredSession) { session.withLock { $0 = new } }

        func remove() {
            session.withLock { $0 = nil }
            let isSignedIn = client.withLock { $0?.user } != nil
            wasSignedIn.withLock { $0.append(isSignedIn) }
        }
    }

    @Test(arguments: ClientKind.allCases)
    func aSignOutIsInTheStoreBeforeTheFollowersOfTheUserAreTold(_ kind: ClientKind) async throws {
        let store = NotingStore()
        var configuration = ClientConfiguration.patient
        configuration.sessionStore = store
        let server = try FeedServer.startQuietly()
        let address = try #require(server.addresses.first).description
        let client: any FeedCalling =
            switch kind {
            case .connected: try FeedClient(to: address, configuration: configuration)
            case .inMemory: try InMemoryFeedService().connect(configuration)
            }
        store.client.withLock { $0 = client }
        try await client.signUp(email: "ada@example.org", password: "secret")
        try await client.signOut()
        #expect(store.wasSignedIn.withLock { $0 } == [true])
        #expect(client.user == nil)
        #expect(store.load() == nil)
        store.client.withLock { $0 = nil }
        await client.close()
        try await server.drain()
    }

    @Test func aSignOutWithoutANetworkIsNoWaitForTheUser() async throws {
        let directory = try TemporaryDirectory()
        let nobody = try ReservedPort()
        var configuration = ClientConfiguration.patient
        let store = FileSessionStore(path: directory.path + "/session")
        let token = try #require(Secret(bytes: Array(repeating: 7, count: Secret.byteCount)))
        store.save(StoredSession(token: token, userID: 5))
        configuration.sessionStore = store
        let client = try FeedClient(to: nobody.address, configuration: configuration)
        var changes = client.userChanges.makeAsyncIterator()
        #expect(await changes.next() == .some(User(id: 5, displayName: "")))
        let signOut = Task { try await client.signOut() }
        #expect(await changes.next() == .some(nil))
        #expect(store.load() == nil)
        // It gives up; what would end the session later ends with the client.
        signOut.cancel()
        try await signOut.value
        await client.close()
        #expect(await failure { try await client.signOut() } == .closed)
    }

    @Test func aServiceInMemoryForgetsForACancelledTaskAndOnceItIsClosed() async throws {
        let directory = try TemporaryDirectory()
        var configuration = ClientConfiguration()
        let store = FileSessionStore(path: directory.path + "/session")
        configuration.sessionStore = store
        let client = try InMemoryFeedService().connect(configuration)
        try await client.signUp(email: "ada@example.org", password: "secret")
        let (never, end) = AsyncStream<Void>.makeStream()
        let signOut = Task {
            for await _ in never {}
            try await client.signOut()
        }
        signOut.cancel()
        try await signOut.value
        end.finish()
        #expect(client.user == nil)
        #expect(store.load() == nil)
        #expect(await failure { try await client.session() }?.reason == .identityRequired)
        try await client.signIn(email: "ada@example.org", password: "secret")
        await client.close()
        #expect(await failure { try await client.signOut() } == .closed)
        #expect(store.load() == nil)
    }

    @Test func aServiceInMemoryForgetsToo() async throws {
        let service = InMemoryFeedService()
        let client = try service.connect()
        let session = try await client.signUp(email: "ada@example.org", password: "secret")
        #expect(client.user == session.user)
        var changes = client.userChanges.makeAsyncIterator()
        #expect(await changes.next() == .some(session.user))
        service.fail { _ in .connectionLost(reason: "test", effect: .unknown) }
        try await client.signOut()
        service.fail(nil)
        #expect(client.user == nil)
        #expect(await changes.next() == .some(nil))
        #expect(await failure { try await client.session() }?.reason == .identityRequired)
        let status = Status(code: .internal, reason: .internal, message: "no")
        try await client.signIn(email: "ada@example.org", password: "secret")
        #expect(await changes.next() == .some(session.user))
        service.fail { _ in .refused(status) }
        #expect(await failure { try await client.signOut() } == .refused(status))
        service.fail(nil)
        #expect(await changes.next() == .some(nil))
        // A refusal that passes is as none.
        try await client.signIn(email: "ada@example.org", password: "secret")
        #expect(await changes.next() == .some(session.user))
        service.fail { _ in .refused(.overloaded()) }
        try await client.signOut()
        service.fail(nil)
        #expect(await changes.next() == .some(nil))

        // A watch hears of the end of a session, too.
        try await client.signIn(email: "ada@example.org", password: "secret")
        #expect(await changes.next() == .some(session.user))
        var watch = client.watch(PostWatch(.top(1))).makeAsyncIterator()
        _ = try await watch.next()
        let other = try service.connect()
        try await other.signIn(email: "ada@example.org", password: "secret")
        try await other.signOut(everywhere: true)
        #expect(await failure { while try await watch.next() != nil {} }?.reason == .sessionExpired)
        #expect(await changes.next() == .some(nil))
        await client.close()
        #expect(await changes.next() == nil)
    }
}
