import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// Whatever a hostile or damaged service answers, a client ends each call once and goes on.
///
/// `FEED_FUZZ_ROUNDS` makes a run longer: for each seed a round has some 20 answers to a session, and two of
/// each kind to every call.
@Suite(.timeLimit(.minutes(60))) struct AnswerFuzzTests {
    private static let roundCount = TestEnvironment.number("FEED_FUZZ_ROUNDS") ?? 40

    @Test(arguments: TestEnvironment.seeds(1...4))
    func aSessionEndsEachCallOnce(seed: UInt64) {
        let answers = MutatedAnswers(seed: seed)
        var random = SeededGenerator(seed: seed)
        var answerCount = 0
        for round in 0..<Self.roundCount {
            var life = Life(seed: random.next())
            life.run(answers)
            answerCount += life.answerCount
            let counts = life.outcomeCounts
            #expect(counts.allSatisfy { $0 == 1 }, "seed \(seed), round \(round): \(counts)")
        }
        #expect(answerCount >= 3 * Self.roundCount, "Most lives have answers; seed \(seed).")
    }

    @Test(arguments: TestEnvironment.seeds(1...4))
    func everyCallTakesAnyAnswer(seed: UInt64) async {
        let answers = MutatedAnswers(seed: seed)
        var takenCount = 0
        for _ in 0..<2 * Self.roundCount {
            for response in Samples.responses {
                guard let frame = answers.next(response, to: 1) else { continue }
                takenCount += await AnsweredClient(frame).makeAllCalls()
            }
            if let frame = answers.next(Samples.status, to: 1) {
                takenCount += await AnsweredClient(frame).makeAllCalls()
            }
        }
        #expect(takenCount > 0, "Some answers are those of a call; seed \(seed).")
    }

    /// A client from its first connection to its close.
    private struct Life {
        private(set) var answerCount = 0
        private var harness: SessionHarness
        private var random: SeededGenerator
        private var callCount = 0
        private var watchCount: UInt64 = 0
        private var stepCount = 0
        private var shown: [UInt64: WatchedPosts] = [:]
        private let responses = Samples.responses

        init(seed: UInt64) {
            harness = SessionHarness(seed: seed) {
                $0.hello.sessionToken = [UInt8](repeating: 9, count: Secret.byteCount)
            }
            random = SeededGenerator(seed: seed)
        }

        /// How often each call has ended.
        var outcomeCounts: [Int] {
            ([99] + (0..<callCount).map { 100 + $0 }).map { harness.outcomes[$0]?.count ?? 0 }
        }

        mutating func run(_ answers: MutatedAnswers) {
            harness.open(within: 10_000_000)
            for _ in 0..<3 {
                submit()
                connect(answers)
                for _ in 0..<3 {
                    answerAll(answers)
                    harness.pass(UInt64.random(in: 0...3_000, using: &random))
                }
                hangUp()
            }
            harness.pass(100_000_000)
            hangUp()
            harness.close()
        }

        private mutating func submit() {
            for request in Samples.requests where !random.oneIn(2) {
                switch request {
                case .hello, .cancel: continue
                case .watchPosts(var watch):
                    watchCount += 1
                    if random.oneIn(2) { watch.postIDs = [] }
                    harness.session.watch(1_000_000 + watchCount, watch, actingUserID: 0)
                default:
                    harness.submit(100 + callCount, request)
                    callCount += 1
                }
            }
            harness.run()
        }

        private mutating func connect(_ answers: MutatedAnswers) {
            if harness.demands.last != .connect { harness.pass(10_000) }
            guard harness.demands.last == .connect else { return }
            harness.session.connected()
            harness.run()
            let hello = SessionHarness.hello(isKnown: random.oneIn(2))
            deliver(
                random.oneIn(2)
                    ? ServerFrame(id: 1, revision: 1, response: hello)
                    : answers.next(hello, to: 1)
            )
        }

        /// Answers what has left, in any order, and says something of the connection now and then.
        private mutating func answerAll(_ answers: MutatedAnswers) {
            var calls = harness.takeFrames().compactMap { frame in
                frame.request.map { (frame.id, $0) }
            }
            for step in harness.watchSteps[stepCount...] {
                switch step {
                case .begin(let id, let request, _): calls.append((id, .watchPosts(request)))
                case .show(let token, let copy): show(token, copy)
                case .end, .cancel: break
                }
            }
            stepCount = harness.watchSteps.count
            calls.shuffle(using: &random)
            for (id, request) in calls {
                let response = response(to: request)
                let isEvent: Bool = if case .watchPosts = response { true } else { false }
                for _ in 0..<(isEvent ? 4 : 1) {
                    deliver(
                        random.oneIn(8)
                            ? answers.next(Samples.status, to: id)
                            : answers.next(response, to: id, hasMore: isEvent)
                    )
                }
            }
            if random.oneIn(8) {
                let goAway = GoAway(lastID: 3, drainMilliseconds: 9, reason: .draining)
                deliver(answers.next(.goAway(goAway), to: 0))
            }
        }

        /// The kind of answer that a session looks into, or any.
        private mutating func response(to request: Request) -> Response {
            let response = responses.first { response in
                switch (request, response) {
                case (.watchPosts, .watchPosts), (.signIn, .session), (.signUp, .session): true
                default: false
                }
            }
            return response ?? responses.randomElement(using: &random) ?? .empty
        }

        private mutating func show(_ token: UInt64, _ copy: WatchCopy) {
            var posts = shown[token] ?? WatchedPosts(copy)
            posts.follow(copy)
            if posts.hasNewOrder, posts.newPostCount > 3 { posts.refresh() }
            shown[token] = posts
            #expect(posts.ranking.count <= 200 && posts.rows.count <= 200)
        }

        /// Delivers a frame, and drops the connection for one that cannot be decoded, as a driver does.
        private mutating func deliver(_ frame: ServerFrame?) {
            guard harness.session.isConnected || harness.session.awaitsHello else { return }
            answerCount += 1
            if let frame {
                harness.receive(frame)
            } else {
                harness.session.drop(.violated("damaged"), at: harness.time)
                harness.run()
            }
            if harness.demands.last == .close { hangUp() }
        }

        private mutating func hangUp() {
            let isClosing = harness.demands.last == .close
            guard isClosing || harness.session.isConnected || harness.session.awaitsHello else {
                return
            }
            harness.lose()
            if harness.demands.last == .close { harness.demands.append(.abandon) }
        }
    }
}

private struct AnsweredClient: FeedCalling {
    let service: HelloResponse? = HelloResponse(
        serverName: "",
        instanceID: 1,
        serverTimeMilliseconds: 0,
        limits: nil
    )
    private let outcome: Result<Answer, FeedClientError>

    init(_ frame: ServerFrame) {
        outcome =
            if let status = frame.status {
                .failure(.refused(status))
            } else if let response = frame.response {
                .success(Answer(response: response, revision: frame.revision))
            } else {
                .failure(.closed)
            }
    }

    func answer(
        to request: Request,
        minimumRevision: UInt64,
        timeout: Duration?
    ) async throws(FeedClientError) -> Answer {
        try outcome.get()
    }

    func acting(for userID: UserID) -> AnsweredClient { self }
    func close() async {}

    /// Makes each call of a client; the result is how many took the answer.
    func makeAllCalls() async -> Int {
        let post = Post(id: 1)
        let calls: [() async throws -> Void] = [
            { _ = try await createPost(PostDraft()) },
            { _ = try await editPost(post) { $0.title = "x" } },
            { _ = try await importPosts([post, post, post]) },
            { _ = try await getPosts([1]) },
            { _ = try await syncPosts(SyncPostsRequest(feed: "")) },
            { try await deletePost(1) },
            { _ = try await rank(of: 1) },
            { _ = try await listPosts() },
            { for try await _ in posts() { return } },
            { _ = try await vote(on: 1, .up) },
            { _ = try await votes(Samples.votes) },
            { _ = try await signIn(email: "", password: "").secret },
            { _ = try await session() },
            { try await signOut() },
            { _ = try await changePassword("", to: "").secret },
            { try await changeEmail(to: "", password: "") },
            { try await deleteAccount(password: "") },
            { _ = try await sessions() },
            { try await endSession(1) },
            { _ = try await resetPassword(token: [], to: "").secret },
            { try await changeUser(ChangeUserRequest(userID: 1, change: .suspend)) },
            { _ = try await makePasswordReset(MakePasswordResetRequest(userID: 1)) },
            { _ = try await ping() },
            { _ = try await feeds() },
            { _ = try await createFeed(Samples.feed) },
            { _ = try await backup() },
            { _ = try await correctTimes(CorrectTimesRequest()) },
            { _ = try await stats() },
            { _ = try await mark(through: 1, as: .read) },
        ]
        var takenCount = 0
        for call in calls {
            do {
                try await call()
                takenCount += 1
            } catch {
                guard let error = error as? FeedClientError else { continue }
                _ = (error.description, error.retryAfter, error.effect)
            }
        }
        return takenCount
    }
}

/// Answers that would not come to an end, or fill the memory of a client.
@Suite(.timeLimit(.minutes(10))) struct HostileAnswerTests {
    /// A client that is answered so, by the number of the call.
    private struct Pager: FeedCalling {
        let service: HelloResponse? = HelloResponse(
            serverName: "",
            instanceID: 1,
            serverTimeMilliseconds: 0,
            limits: nil
        )
        let count = Locked(0)
        let response: @Sendable (Int) -> Response

        func answer(
            to request: Request,
            minimumRevision: UInt64,
            timeout: Duration?
        ) async throws(FeedClientError) -> Answer {
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return Answer(response: response(number), revision: 1)
        }

        func acting(for userID: UserID) -> Pager { self }
        func close() async {}
    }

    private func read(_ pager: Pager) async -> (posts: [PostID], error: FeedClientError?) {
        var ids: [PostID] = []
        let error = await failure {
            for try await post in pager.posts() { ids.append(post.id) }
        }
        return (ids, error)
    }

    @Test func aTokenThatLeadsToItsOwnPageEndsAList() async {
        let pager = Pager { number in
            .listPosts(
                ListPostsResponse(
                    posts: [Post(id: PostID(rawValue: UInt64(number)))],
                    nextPageToken: [1]
                )
            )
        }
        let (ids, error) = await read(pager)
        #expect(ids == [0])
        let reason = "The token of a page leads to the same page."
        #expect(error == .protocolViolation(reason: reason, effect: .none))
    }

    @Test func pagesWithoutAPostEndAList() async {
        let limit = PostSequence.maximumEmptyPageCount
        let pager = Pager { number in
            // A page with a post begins the count anew.
            let posts = number == 5 ? [Post(id: 5)] : []
            let token = [UInt8(number & 1)]
            return .listPosts(ListPostsResponse(posts: posts, nextPageToken: token))
        }
        let (ids, error) = await read(pager)
        #expect(ids == [5])
        let reason = "\(limit) pages in a row have no post, and lead on."
        #expect(error == .protocolViolation(reason: reason, effect: .none))
        #expect(pager.count.withLock { $0 } == limit + 6)
    }

    @Test func aSignInWithoutATokenIsNone() async {
        let pager = Pager { _ in .session(UserSession(user: nil, expireTimeMilliseconds: 1)) }
        for error in [
            await failure { _ = try await pager.signIn(email: "a@x", password: "password") },
            await failure {
                _ = try await pager.signUp(email: "a@x", password: "password", displayName: "a")
            },
        ] {
            guard case .protocolViolation = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        // A session that is only read has none.
        #expect(await failure { _ = try await pager.session() } == nil)
    }

    @Test("a watch keeps 200 posts, each once", arguments: [[], [3, 1]] as [[PostID]])
    func aWatchIsBounded(ids: [PostID]) {
        var request = WatchPostsRequest(postIDs: ids)
        if ids.isEmpty { request.topCount = 100 }
        var copy = WatchCopy(of: request)
        let first = (1...1_000).map(PostID.init(rawValue:))
        for round in 0..<5 as Range<UInt64> {
            let changed = (1...1_000).map { PostID(rawValue: $0 + 1_000 * round) }
            let event = WatchPostsEvent(
                changed: changed.map { Post(id: $0, feed: "posts") },
                ranking: round > 2 ? [] : first.flatMap { [$0, $0] },
                newPostCount: .max
            )
            copy.apply(event, revision: round, isFirst: round == 0)
        }
        var posts = WatchedPosts(copy)
        posts.follow(copy)
        #expect(posts.ranking == (ids.isEmpty ? Array(first.prefix(200)) : ids))
        #expect(posts.rows.count == posts.ranking.count)
    }
}
