import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// Watches over a connection and in memory.
@Suite(.timeLimit(.minutes(10))) struct WatchConformanceTests {
    /// Takes elements until one is as it should be, which the service promises to send in the end.
    private static func posts(
        _ iterator: inout WatchSequence.AsyncIterator,
        until isDone: (WatchedPosts) -> Bool
    ) async throws -> WatchedPosts {
        while let posts = try await iterator.next() { if isDone(posts) { return posts } }
        throw FeedClientError.closed
    }

    private static func watcher(_ bench: ConformanceBench) async throws -> any FeedWatching {
        try #require(try await bench.device() as? any FeedWatching)
    }

    /// Three posts, of which the first has the most votes.
    private static func fill(_ client: any FeedWatching) async throws -> [PostID] {
        var ids: [PostID] = []
        for (number, title) in ["a", "b", "c"].enumerated() {
            ids.append(try await client.createPost(PostDraft(title: title), in: "posts").id)
            for _ in number..<3 { try await client.vote(on: ids[number], .up) }
        }
        return ids
    }

    @Test(arguments: ClientKind.allCases)
    func votesChangeNumbersInPlaceAndARefreshSorts(kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await Self.watcher(bench)
            let ids = try await Self.fill(client)
            let watch = client.watch(
                PostWatch(.top(10), in: "posts", order: .top),
                interval: .milliseconds(50)
            )
            var iterator = watch.makeAsyncIterator()
            let first = try #require(try await iterator.next())
            #expect(first.rows.map(\.id) == ids)
            #expect(first.rows == (try await client.getPosts(ids).posts))
            for _ in 0..<5 { try await client.vote(on: ids[2], .up) }
            let voted = try await Self.posts(&iterator) { $0.rows[2].score == 6 }
            #expect(voted.rows.map(\.id) == ids)
            #expect(voted.ranking == [ids[2], ids[0], ids[1]])
            #expect(voted.hasNewOrder)
            watch.refresh()
            let sorted = try await Self.posts(&iterator) { !$0.hasNewOrder }
            #expect(sorted.rows.map(\.id) == [ids[2], ids[0], ids[1]])
        }
    }

    @Test(arguments: ClientKind.allCases)
    func aListIsObservedWithItsFilters(kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await Self.watcher(bench)
            let ids = try await Self.fill(client)
            try await client.mark([ids[2]], as: .read)
            try await client.mark([ids[1]], as: .dismissed)
            var list = PostList(feed: "posts", order: .new)
            func shown(_ watch: PostWatch) async throws -> [PostID]? {
                var iterator = client.watch(watch).makeAsyncIterator()
                return try await iterator.next()?.rows.map(\.id)
            }
            #expect(try await shown(PostWatch(.top(5), of: list)) == [ids[2], ids[0]])
            list.unreadOnly = true
            #expect(try await shown(PostWatch(.top(5), of: list)) == [ids[0]])
            list.includesDismissed = true
            #expect(try await shown(PostWatch(.top(5), of: list)) == [ids[1], ids[0]])
            list.authorID = 7
            #expect(try await shown(PostWatch(.top(5), of: list)) == [])
            let all = PostWatch(.top(5), in: "posts", order: .new)
            #expect(try await shown(all) == [ids[2], ids[1], ids[0]])
        }
    }

    @Test(arguments: ClientKind.allCases)
    func newPostsAreCountedAndThoseThatLeaveAreNamed(kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await Self.watcher(bench)
            let ids = try await Self.fill(client)
            let watch = client.observe(PostList(feed: "posts", order: .new), limit: 2)
            var iterator = watch.makeAsyncIterator()
            let first = try #require(try await iterator.next())
            #expect(first.rows.map(\.id) == [ids[2], ids[1]])
            let added = try await client.createPost(PostDraft(title: "d"), in: "posts").id
            let news = try await Self.posts(&iterator) { $0.newPostCount == 1 }
            #expect(news.rows.map(\.id) == [ids[2], ids[1]])
            #expect(news.removedIDs == [ids[1]])
            #expect(news.ranking == [added, ids[2]])
            try await client.deletePost(added)
            let back = try await Self.posts(&iterator) { $0.ranking == [ids[2], ids[1]] }
            #expect(back.removedIDs.isEmpty && !back.hasNewOrder)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func singlePostsAreWatchedInTheirOrder(kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await Self.watcher(bench)
            let ids = try await Self.fill(client)
            let watch = client.watch(PostWatch(.posts([ids[2], 999, ids[0]])))
            var iterator = watch.makeAsyncIterator()
            let first = try #require(try await iterator.next())
            #expect(first.rows.map(\.id) == [ids[2], ids[0]])
            var edited = first.rows[0]
            edited.title = "edited"
            edited.revision = 0
            _ = try await client.updatePost(edited, fields: [.title])
            let renamed = try await Self.posts(&iterator) { $0.rows[0].title == "edited" }
            #expect(renamed.rows[0] == (try await client.getPost(ids[2])))
            try await client.deletePost(ids[0])
            let gone = try await Self.posts(&iterator) { !$0.removedIDs.isEmpty }
            #expect(gone.removedIDs == [ids[0]])
            #expect(gone.rows.count == 2 && gone.ranking == [ids[2]])
        }
    }

    @Test(arguments: ClientKind.allCases)
    func aSignInShowsTheUsersBallots(kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await Self.watcher(bench)
            try await client.createFeed(Feed(name: "ballots", voteMode: .ballot))
            let id = try await client.createPost(PostDraft(title: "a"), in: "ballots").id
            try await client.vote(on: id, .up)
            var iterator = client.watch(PostWatch(.top(5), in: "ballots")).makeAsyncIterator()
            let mine = try #require(try await iterator.next())
            #expect(mine.rows[0].viewer?.vote == .up)
            try await client.signUp(email: "ada@example.org", password: "secret")
            let users = try await Self.posts(&iterator) { $0.rows[0].viewer?.vote != .up }
            #expect(users.rows[0].score == 1)
            try await client.signOut()
            _ = try await Self.posts(&iterator) { $0.rows[0].viewer?.vote == .up }
        }
    }

    @Test(arguments: ClientKind.allCases)
    func theEndOfItsSessionEndsIt(kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await Self.watcher(bench)
            let made = try await client.signUp(email: "ada@example.org", password: "secret")
            let device = try await bench.connect(ClientID(), made.secret)
            let other = try #require(device as? any FeedWatching)
            var iterators = (0..<2).map { _ in other.watch(PostWatch(.top(5))).makeAsyncIterator() }
            for place in iterators.indices { _ = try await iterators[place].next() }
            try await client.signOut(everywhere: true)
            for place in iterators.indices {
                let reason = await refusal {
                    while try await iterators[place].next() != nil {}
                }
                #expect(reason == .sessionExpired)
            }
            // The next one is the device's.
            var later = other.watch(PostWatch(.top(5))).makeAsyncIterator()
            #expect(try await later.next() != nil)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func anEmptyRankingIsAnEmptyListOrOneWithoutAChange(kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await Self.watcher(bench)
            var iterator = client.watch(PostWatch(.top(5), in: "posts")).makeAsyncIterator()
            #expect(try await iterator.next()?.ranking == [])
            let id = try await client.createPost(PostDraft(title: "a"), in: "posts").id
            _ = try await Self.posts(&iterator) { $0.ranking == [id] }
            // The order is as before, so the event has none.
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            let revision = try await client.call(vote).revision
            let voted = try await Self.posts(&iterator) { $0.revision >= revision }
            #expect(voted.ranking == [id])
            try await client.deletePost(id)
            let empty = try await Self.posts(&iterator) { $0.ranking == [] }
            #expect(empty.removedIDs == [id] && empty.rows.map(\.id) == [id])
        }
    }

    @Test(arguments: ClientKind.allCases)
    func refusalsEndIt(kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await Self.watcher(bench)
            let refused: [(PostWatch, Reason)] = [
                (PostWatch(.top(5), in: "nowhere"), .feedNotFound),
                (PostWatch(.top(0)), .badField),
                (PostWatch(.top(101)), .badField),
                (PostWatch(.posts([])), .badField),
                (PostWatch(.posts((1...201).map(PostID.init(rawValue:)))), .batchTooLarge),
                (PostWatch(.top(5), order: .new, window: .day), .badField),
            ]
            for (watch, reason) in refused {
                var iterator = client.watch(watch).makeAsyncIterator()
                #expect(await refusal { try await iterator.next() } == reason, "\(watch)")
                #expect(try await iterator.next() == nil)
            }
        }
    }

    @Test(arguments: ClientKind.allCases)
    func aConnectionHasSixteenAndThoseThatEndMakeRoom(kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await Self.watcher(bench)
            var iterators: [WatchSequence.AsyncIterator] = []
            for _ in 0..<16 {
                var iterator = client.watch(PostWatch(.top(5))).makeAsyncIterator()
                _ = try await iterator.next()
                iterators.append(iterator)
            }
            var another = client.watch(PostWatch(.top(5))).makeAsyncIterator()
            #expect(await refusal { try await another.next() } == .tooManyWatches)
            iterators.removeLast()
            another = client.watch(PostWatch(.top(5))).makeAsyncIterator()
            #expect(try await another.next() != nil)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func closingTheClientEndsIt(kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await Self.watcher(bench)
            let watch = client.watch(PostWatch(.top(5)))
            var iterator = watch.makeAsyncIterator()
            _ = try await iterator.next()
            await client.close()
            #expect(await failure { try await iterator.next() } == .closed)
            var later = watch.makeAsyncIterator()
            #expect(await failure { try await later.next() } == .closed)
        }
    }
}
