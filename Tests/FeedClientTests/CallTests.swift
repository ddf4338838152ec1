import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// What only a client over a connection has; the conformance suites have every call.
@Suite(.timeLimit(.minutes(10))) struct CallTests {
    @Test func introducesBothAndLearnsTheLimits() async throws {
        try await withClient { client async throws in
            #expect(client.service?.serverName.contains("feed-service") == true)
            #expect(client.service?.limits?.maximumInFlightCount == 256)
            #expect(try await client.ping().serving == .serving)
        }
    }

    @Test func namesTheFieldAtFault() async throws {
        try await withClient { client in
            let error = await failure {
                try await client.createPost(PostDraft(title: String(repeating: "x", count: 256)))
            }
            guard case .refused(let status) = error
            else { throw Unexpected("A long title was taken: \(String(describing: error))") }
            #expect(status.violations.map(\.field) == ["post.title"])
            #expect(status.violations.first?.limit == 255)
        }
    }

    @Test func refusalsHaveACodeAndNoEffect() async throws {
        try await withClient { client in
            let error = await failure { try await client.getPost(1) }
            guard case .refused(let status) = error else { throw Unexpected(error) }
            #expect((status.code, status.reason) == (.notFound, .postNotFound))
            #expect(error?.effect == CallEffect.none)
        }
    }

    @Test func readsFeedsRanksAndStatistics() async throws {
        try await withClient { client in
            let post = try await client.createPost(PostDraft(title: "Apple"))
            #expect(try await client.feeds().map(\.name) == ["posts", "tweets"])
            let rank = try await client.rank(of: post.id, order: .new)
            #expect(rank == PostRank(rank: 1, totalSize: 1))
            let stats = try await client.stats()
            #expect(stats.postCount == 1)
            #expect(stats.connectionCount == 1)
        }
    }
}

/// Many calls that one task waits for.
@Suite(.timeLimit(.minutes(10))) struct CallGroupTests {
    private static func posts(_ count: Int) -> [Post] {
        (0..<count).map { Post(title: "Post \($0)") }
    }

    @Test func createsPostsInOrderAndNamesTheFailedCalls() async throws {
        try await withClient { client in
            var posts = Self.posts(600)
            posts[7].title = String(repeating: "x", count: 256)
            let results = await client.createPosts(posts, in: "")
            #expect(results.count == 600)
            let ids = results.compactMap { try? $0.get().id }
            #expect(ids.count == 599)
            #expect(ids == ids.sorted())
            for (post, result) in zip(posts, results) {
                switch result {
                case .success(let created): #expect(created.title == post.title)
                case .failure(let error):
                    #expect(post.title == posts[7].title)
                    #expect(error.effect == CallEffect.none)
                }
            }
        }
    }

    @Test func makesNoCallForNoPosts() async throws {
        try await withScript(silence) { client, _ in
            #expect(await client.createPosts([], in: "").isEmpty)
        }
    }

    @Test func cancelsAllCallsOfItsTask() async throws {
        let createIDs = Locked<[UInt64]>([])
        // A vote is answered after all posts, so that a call that was not cancelled ends too.
        let script: ScriptedService.Script = { frame in
            guard case .createPost = frame.request else {
                let late = createIDs.withLock { $0 }
                    .map { ServerFrame(id: $0, revision: 1, response: .post(Post(id: 7))) }
                return late.map { .answer($0) } + [voteAnswer(frame)]
            }
            createIDs.withLock { $0.append(frame.id) }
            return []
        }
        try await withScript(script) { client, service in
            // The time limit ends the wait for a value of a stream, and not the one for a task.
            let (ends, log) = AsyncStream<[Result<Post, FeedClientError>]>.makeStream()
            let task = Task { log.yield(await client.createPosts(Self.posts(3), in: "")) }
            var frames = service.received.makeAsyncIterator()
            // Hello, and the three calls.
            for _ in 0..<4 { _ = await frames.next() }
            task.cancel()
            _ = try await client.vote(on: 7, .up)
            let failed = FeedClientError.cancelled(effect: .unknown)
            var results = ends.makeAsyncIterator()
            #expect(await results.next() == Array(repeating: .failure(failed), count: 3))
        }
    }

    @Test func endsCallsOfAClosedClient() async throws {
        let service = try await ScriptedService.start(silence)
        let client = try await FeedClient.connect(to: service.address)
        await client.close()
        let results = await client.createPosts(Self.posts(2), in: "")
        #expect(results == [.failure(.closed), .failure(.closed)])
        await service.stop()
    }
}

/// What the calls of a service say of users, marks and lists.
@Suite(.timeLimit(.minutes(10))) struct ActingTests {
    /// A user of a service's own.
    private static let user = UserID.ofService(7)

    /// The calls of a body, as a service gets them; it answers none of them.
    private static func calls(
        _ body: @escaping @Sendable (FeedClient) async -> Void
    ) async throws -> [ClientFrame] {
        var frames: [ClientFrame] = []
        let script: ScriptedService.Script = { [.answer(refusal($0))] }
        try await withScript(script) { client, service in
            await body(client)
            await client.close()
            for await frame in service.received { frames.append(frame) }
        }
        return frames.filter { if case .hello = $0.request { false } else { true } }
    }

    private static func refusal(_ frame: ClientFrame) -> ServerFrame {
        let status = Status(code: .unimplemented, reason: .unknownMethod, message: "no")
        return ServerFrame(id: frame.id, revision: 1, status: status)
    }

    @Test func eachCallNamesTheUserThatItActsFor() async throws {
        let frames = try await Self.calls { client in
            let ada = client.acting(for: Self.user)
            _ = try? await ada.vote(on: 1, .up)
            _ = try? await client.vote(on: 1, .up)
            _ = try? await ada.mark([3], as: .read)
            _ = await ada.createPosts([Post(title: "a")], in: "posts")
        }
        #expect(frames.map(\.actingUserID) == [Self.user, 0, Self.user, Self.user])
    }

    @Test func marksNamePostsOrTheLastOfThem() async throws {
        let frames = try await Self.calls { client in
            _ = try? await client.mark([3, 4], as: .read, in: "posts")
            _ = try? await client.mark(through: 9, as: .dismissed)
        }
        let expected: [Request?] = [
            .markPosts(MarkPostsRequest(feed: "posts", mark: .read, postIDs: [3, 4])),
            .markPosts(MarkPostsRequest(mark: .dismissed, throughPostID: 9)),
        ]
        #expect(frames.map(\.request) == expected)
    }

    @Test func aListSaysAllThatItIs() async throws {
        let list = PostList(
            feed: "posts",
            order: .controversial,
            window: .week,
            authorID: 5,
            unreadOnly: true,
            includesDismissed: true,
            consistency: .stable
        )
        let frames = try await Self.calls { client in
            _ = try? await client.listPosts(list, pageSize: 7, from: .newerThan(11))
            _ = try? await client.rank(of: 3, order: .top, window: .day)
        }
        let expected: [Request?] = [
            .listPosts(
                ListPostsRequest(
                    feed: "posts",
                    order: .controversial,
                    window: .week,
                    pageSize: 7,
                    start: .newerThanPostID(11),
                    authorID: 5,
                    unreadOnly: true,
                    includesDismissed: true,
                    consistency: .stable
                )
            ),
            .getPostRank(GetPostRankRequest(id: 3, order: .top, window: .day)),
        ]
        #expect(frames.map(\.request) == expected)
    }

    @Test func aPageSaysWhatWasServedAndWhereToRefresh() async throws {
        let script: ScriptedService.Script = { frame in
            let page = ListPostsResponse(
                posts: [Post(id: 7)],
                refreshToken: [1, 2],
                newerCount: 3,
                consistency: .live
            )
            return [.answer(ServerFrame(id: frame.id, revision: 1, response: .listPosts(page)))]
        }
        try await withScript(script) { client, _ in
            let page = try await client.listPosts(PostList(consistency: .stable))
            #expect(page.refresh == PageToken(bytes: [1, 2]))
            #expect(page.newerCount == 3)
            #expect(page.consistency == .live)
        }
    }

    @Test func signingInAndOutAreCallsOfTheirOwn() async throws {
        let frames = try await Self.calls { client in
            _ = try? await client.signUp(email: "a@b", password: "secret", displayName: "Ada")
            _ = try? await client.signIn(email: "a@b", password: "secret", createsIfMissing: true)
            _ = try? await client.session()
            try? await client.signOut(everywhere: true)
            _ = try? await client.changePassword("secret", to: "another")
            try? await client.changeEmail(to: "b@b", password: "another")
            try? await client.deleteAccount(password: "another", keepsPosts: true)
            _ = try? await client.sessions()
            try? await client.endSession(7)
            _ = try? await client.resetPassword(token: [1], to: "a third")
            try? await client.changeUser(ChangeUserRequest(userID: 5, change: .restore))
            _ = try? await client.makePasswordReset(MakePasswordResetRequest(email: "b@b"))
        }
        let expected: [Request?] = [
            .signUp(SignUpRequest(email: "a@b", password: "secret", displayName: "Ada")),
            .signIn(SignInRequest(email: "a@b", password: "secret", createsIfMissing: true)),
            .getSession,
            .signOut(SignOutRequest(endsEverywhere: true)),
            .changePassword(ChangePasswordRequest(password: "secret", newPassword: "another")),
            .changeEmail(ChangeEmailRequest(password: "another", email: "b@b")),
            .deleteAccount(DeleteAccountRequest(password: "another", keepsPosts: true)),
            .listSessions,
            .endSession(EndSessionRequest(id: 7)),
            .resetPassword(ResetPasswordRequest(token: [1], newPassword: "a third")),
            .changeUser(ChangeUserRequest(userID: 5, change: .restore)),
            .makePasswordReset(MakePasswordResetRequest(email: "b@b")),
        ]
        #expect(frames.map(\.request) == expected)
    }
}

/// Pages and the sequence of posts over them.
@Suite(.timeLimit(.minutes(10))) struct PageTests {
    @Test func leadsForthAndBack() async throws {
        try await withClient { client in
            try await Self.fill(client, 25)
            let first = try await client.listPosts(in: "posts", order: .old)
            #expect(first.posts.count == 20)
            #expect(first.previous == nil)
            #expect(first.firstRank == 1)
            #expect(first.totalSize == 25)
            let next = try #require(first.next)
            let second = try await client.listPosts(in: "posts", order: .old, from: .token(next))
            #expect(second.posts.count == 5)
            #expect(second.next == nil)
            #expect(second.firstRank == 21)
            let previous = try #require(second.previous)
            let back = try await client.listPosts(in: "posts", order: .old, from: .token(previous))
            #expect(back.posts == first.posts)
        }
    }

    @Test func startsAroundAPostOrAtARank() async throws {
        try await withClient { client in
            let ids = try await Self.fill(client, 25)
            let around = try await client.listPosts(order: .old, from: .around(ids[22]))
            #expect(around.posts.contains { $0.id == ids[22] })
            let ranked = try await client.listPosts(order: .old, pageSize: 3, from: .rank(5))
            #expect(ranked.posts.map(\.id) == Array(ids[4..<7]))
        }
    }

    @Test(arguments: [0, 1, 7, 100])
    func walksEveryPostOnce(pageSize: Int) async throws {
        try await withClient { client in
            let ids = try await Self.fill(client, 23)
            var walked: [PostID] = []
            for try await post in client.posts(order: .old, pageSize: pageSize) {
                walked.append(post.id)
            }
            #expect(walked == ids)
        }
    }

    @Test func walksAnEmptyFeed() async throws {
        try await withClient { client in
            for try await post in client.posts(in: "tweets") {
                Issue.record("An empty feed has \(post)")
            }
        }
    }

    @Test func aWalkGoesOnBehindAnEmptyPage() async throws {
        let script: ScriptedService.Script = { frame in
            guard case .listPosts(let request) = frame.request else { return [.reset] }
            let isFirst = request.pageToken.isEmpty
            let page = ListPostsResponse(
                posts: isFirst ? [] : [Post(id: 7)],
                nextPageToken: isFirst ? [1] : []
            )
            return [.answer(ServerFrame(id: frame.id, revision: 1, response: .listPosts(page)))]
        }
        try await withScript(script) { client, _ in
            var posts = client.posts().makeAsyncIterator()
            let first = try await posts.next()
            #expect(first?.id == 7)
            let end = try await posts.next()
            #expect(end == nil)
        }
    }

    @Test func aWalkEndsWithTheServicesRefusal() async throws {
        try await withClient { client in
            let error = await failure {
                var posts = client.posts(in: "nowhere").makeAsyncIterator()
                return try await posts.next()
            }
            guard case .refused(let status) = error else {
                throw Unexpected("A feed that is not there was read: \(String(describing: error))")
            }
            #expect(status.reason == .feedNotFound)
        }
    }

    @discardableResult
    private static func fill(_ client: FeedClient, _ count: Int) async throws -> [PostID] {
        var ids: [PostID] = []
        for number in 0..<count {
            ids.append(try await client.createPost(PostDraft(title: "post \(number)")).id)
        }
        return ids
    }
}

/// Calls in order, a bounded number at a time.
@Suite struct PipeliningTests {
    private struct Refused: Error, Equatable {
        let number: Int
    }

    /// The calls of a pipeline as they begin and end.
    private struct Calls {
        var begun: [Int] = []
        var inFlightCount = 0
        var mostInFlightCount = 0
    }

    /// Runs `count` calls, each of which ends after its own number of yields.
    private func run(
        _ count: Int,
        depth: Int,
        failingAt failing: Set<Int> = [],
        take: (Int) throws -> Void
    ) async throws -> Calls {
        let calls = Locked(Calls())
        var numbers = (0..<count).makeIterator()
        let result: Result<Void, any Error>
        do {
            try await FeedClient.pipeline(
                depth: depth,
                next: { numbers.next() },
                call: { number in
                    calls.withLock { calls in
                        calls.begun.append(number)
                        calls.inFlightCount += 1
                        calls.mostInFlightCount = max(calls.mostInFlightCount, calls.inFlightCount)
                    }
                    for _ in 0..<number * 7 % 11 { await Task.yield() }
                    calls.withLock { $0.inFlightCount -= 1 }
                    if failing.contains(number) { throw Refused(number: number) }
                    return number
                },
                take: take
            )
            result = .success(())
        } catch {
            result = .failure(error)
        }
        #expect(calls.withLock { $0.begun } == Array(0..<calls.withLock { $0.begun.count }))
        try result.get()
        return calls.withLock { $0 }
    }

    @Test(arguments: [1, 3, 16])
    func beginsAndTakesCallsInOrder(_ depth: Int) async throws {
        var taken: [Int] = []
        let calls = try await run(2_000, depth: depth) { taken.append($0) }
        #expect(calls.begun == Array(0..<2_000))
        #expect(taken == Array(0..<2_000))
        #expect(calls.mostInFlightCount <= depth)
    }

    @Test func endsWithTheFirstFailureAndTakesTheCallsInFlight() async throws {
        var taken: [Int] = []
        await #expect(throws: Refused(number: 20)) {
            _ = try await run(200, depth: 8, failingAt: [20, 22]) { taken.append($0) }
        }
        // No call begins behind the window of the first failure.
        let last = try #require(taken.last)
        #expect(last < 28)
        #expect(taken == (0...last).filter { $0 != 20 && $0 != 22 })
    }

    @Test func endsWhereAResultIsNotTaken() async throws {
        var taken = 0
        await #expect(throws: Refused(number: 5)) {
            _ = try await run(200, depth: 4) { number in
                if number == 5 { throw Refused(number: 5) }
                taken += 1
            }
        }
        #expect(taken >= 5 && taken < 9)
    }
}
