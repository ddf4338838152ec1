import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// Posts and votes are the same over a connection and in memory.
@Suite(.timeLimit(.minutes(10))) struct PostConformanceTests {
    @Test(arguments: ClientKind.allCases)
    func createsReadsChangesAndDeletes(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.device()
            let made = try await client.createPost(
                PostDraft(title: "Apple", text: "red"),
                authorName: "Ada"
            )
            #expect(made.feed == "posts")
            #expect(made.author?.displayName == "Ada")
            #expect(made.viewer == Viewer())
            #expect(try await client.getPost(made.id) == made)
            var change = made
            change.title = "Pear"
            change.text = "not read"
            let changed = try await client.updatePost(change, fields: [.title])
            #expect(changed.title == "Pear")
            #expect(changed.text == "red")
            // An edit stands on the revision that the edit before has made; votes are no edits.
            try await client.vote(on: made.id, .up)
            #expect(try await client.editPost(changed) { $0.title = "Plum" }.title == "Plum")
            let late = await refusal { try await client.editPost(changed) { $0.text = "late" } }
            #expect(late == .revisionMismatch)
            // Without a change there is no call.
            #expect(try await client.editPost(changed) { $0.title = "Pear" } == changed)
            try await client.deletePost(made.id)
            try await client.deletePost(made.id)
            #expect(await refusal { try await client.getPost(made.id) } == .postNotFound)
            #expect(
                await refusal { try await client.deletePost(made.id.advanced(by: 9)) }
                    == .postNotFound
            )
        }
    }

    @Test(arguments: ClientKind.allCases)
    func refusesTextsAndAddressesOutOfBounds(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let long = String(repeating: "x", count: 256)
            let wrong: [(PostDraft, String, Reason)] = [
                (PostDraft(title: long), "", .titleTooLong),
                (PostDraft(title: String(repeating: Self.bomb, count: 250)), "", .titleTooLong),
                (PostDraft(), "tweets", .textEmpty),
                (PostDraft(text: long), "tweets", .textTooLong),
                (PostDraft(linkURL: "a b"), "", .badURL),
                (PostDraft(linkURL: "javascript:alert(1)"), "", .badURL),
                (PostDraft(linkURL: "data:text/html,x"), "", .badURL),
                (PostDraft(), "none", .feedNotFound),
            ]
            for (post, feed, reason) in wrong {
                let found = await refusal { try await client.createPost(post, in: feed) }
                #expect(found == reason)
            }
            let found = await refusal {
                try await client.createPost(PostDraft(), authorName: long)
            }
            #expect(found == .nameTooLong)
            _ = try await client.createPost(PostDraft(title: String(repeating: "é", count: 255)))
            _ = try await client.createPost(PostDraft(title: "   "))
            for link in ["HTTPS://example.org:80/", "/r/a:b", "example.org?a:b", "#a:b", ""] {
                _ = try await client.createPost(PostDraft(linkURL: link))
            }
        }
    }

    /// A letter of 41 bytes.
    private static let bomb = "e" + String(repeating: "\u{301}", count: 20)

    @Test(arguments: ClientKind.allCases)
    func titlesAreAsLongAsTheirFeedSaysInEveryScript(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let feed = try await client.createFeed(Feed(name: "long", maximumTitleLength: 1_000))
            #expect(feed.maximumTitleLength == 1_000)
            for (letter, feed, limit) in [
                ("स्त्री", "", 255), ("👩🏽‍❤️‍💋‍👨🏿", "", 255), ("ཧྐྵྨླྺྼྻྂ", "", 255), ("क्षि", "long", 1_000),
                ("स्त्री", "long", 1_000), ("រី", "long", 1_000), ("x", "long", 1_000),
            ] {
                let longest = String(repeating: letter, count: limit)
                _ = try await client.createPost(PostDraft(title: longest), in: feed)
                let post = PostDraft(title: longest + letter)
                #expect(
                    await refusal { try await client.createPost(post, in: feed) } == .titleTooLong
                )
            }
            let longer = Feed(name: "longer", maximumTitleLength: 1_001)
            #expect(await refusal { try await client.createFeed(longer) } == .badField)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func talliesCountEachVote(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let post = try await client.createPost(PostDraft(title: "Apple"))
            try await client.vote(on: post.id, .up)
            #expect(try await client.vote(on: post.id, .up).score == 2)
            let results = try await client.votes([
                CastVoteRequest(postID: post.id, direction: .down),
                CastVoteRequest(postID: 999, direction: .up),
                CastVoteRequest(postID: post.id, direction: .clear),
                CastVoteRequest(postID: post.id, direction: .up),
            ])
            #expect(try results[0].get().score == 1)
            #expect(throws: Status.self) { try results[1].get() }
            #expect(throws: Status.self) { try results[2].get() }
            #expect(try results[3].get().score == 2)
            #expect(await refusal { try await client.vote(on: post.id, .clear) } == .badVote)
            #expect(await refusal { try await client.votes([]) } == .badField)
            let counts = try await client.getPost(post.id)
            #expect((counts.upvoteCount, counts.downvoteCount) == (3, 1))
        }
    }

    @Test(arguments: ClientKind.allCases)
    func ballotsStandOnceForADevice(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let ada = try await bench.device()
            let ben = try await bench.device()
            let nobody = try await bench.anonymous()
            let feed = try await ada.createFeed(Feed(name: "polls", voteMode: .ballot))
            #expect(feed.voters == .devices)
            let post = try await ada.createPost(PostDraft(title: "Apple"), in: "polls")
            try await ada.vote(on: post.id, .up)
            #expect(try await ada.vote(on: post.id, .up).score == 1)
            let counts = try await ben.vote(on: post.id, .down)
            #expect((counts.score, counts.vote) == (0, .down))
            #expect(try await ada.getPost(post.id).viewer?.vote == .up)
            #expect(try await ada.vote(on: post.id, .clear).vote == .unspecified)
            #expect(try await nobody.getPost(post.id).viewer == nil)
            #expect(await refusal { try await nobody.vote(on: post.id, .up) } == .identityRequired)
            try await ada.createFeed(Feed(name: "users", voteMode: .ballot, voters: .users))
            let second = try await ada.createPost(PostDraft(title: "Pear"), in: "users")
            #expect(await refusal { try await ada.vote(on: second.id, .up) } == .identityRequired)
            let user = ada.acting(for: .ofService(7))
            #expect(try await user.vote(on: second.id, .up).score == 1)
            #expect(try await user.getPost(second.id).viewer?.vote == .up)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func importsWithTimesAndCounts(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let ids = try await client.importPosts([
                Post(title: "Apple", upvoteCount: 5, downvoteCount: 2),
                Post(title: "Pear", createTimeMilliseconds: 1_000),
            ])
            let answer = try await client.getPosts([ids[1], 999, ids[0]])
            #expect(answer.posts.map(\.title) == ["Pear", "Apple"])
            #expect(answer.posts.map(\.score) == [0, 3])
            #expect(answer.posts.map(\.createTimeMilliseconds) == [1_000, 0])
            #expect(answer.missingIDs == [999])
            let wrong = Post(title: "Fig", createTimeMilliseconds: -1)
            #expect(await refusal { try await client.importPosts([wrong]) } == .badTime)
        }
    }
}

/// Lists, pages and marks are the same over a connection and in memory.
@Suite(.timeLimit(.minutes(10))) struct ListConformanceTests {
    /// Fills a service with posts of different ages and counts; returns their ids.
    private static func fill(_ client: any FeedCalling, _ count: Int) async throws -> [PostID] {
        var generator = SeededGenerator(seed: 7)
        let posts = (0..<count).map { number in
            Post(
                title: "\(Int.random(in: 0..<50, using: &generator)) of \(number)",
                upvoteCount: .random(in: 0..<20, using: &generator),
                downvoteCount: .random(in: 0..<8, using: &generator),
                commentCount: .random(in: 0..<5, using: &generator),
                createTimeMilliseconds: .random(in: 0..<1_600_000_000_000, using: &generator)
            )
        }
        return try await client.importPosts(posts)
    }

    /// The titles of a whole list, page by page, so that ids need not agree.
    private static func titles(
        _ client: any FeedCalling,
        _ list: PostList
    ) async throws -> [String] {
        var titles: [String] = []
        for try await post in client.posts(list, pageSize: 7) { titles.append(post.title) }
        return titles
    }

    @Test func bothKindsSortAllOrdersAlike() async throws {
        let orders: [Order] = [.top, .new, .old, .hot, .best, .controversial, .rising, .discussed]
        var found: [[[String]]] = []
        for kind in ClientKind.allCases {
            try await ConformanceBench.run(kind) { bench in
                let client = try await bench.anonymous()
                _ = try await Self.fill(client, 60)
                var lists: [[String]] = []
                for order in orders {
                    lists.append(try await Self.titles(client, PostList(order: order)))
                }
                found.append(lists)
            }
        }
        #expect(found[0].allSatisfy { $0.count == 60 })
        #expect(found[0] == found[1])
    }

    @Test(arguments: ClientKind.allCases)
    func pagesLeadForwardsAndBack(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            _ = try await Self.fill(client, 25)
            let first = try await client.listPosts(order: .top, pageSize: 10)
            #expect((first.firstRank, first.totalSize, first.previous) == (1, 25, nil))
            let second = try await client.listPosts(
                order: .top,
                pageSize: 10,
                from: .token(try #require(first.next))
            )
            #expect(second.firstRank == 11)
            #expect(try await client.next(after: first)?.posts == second.posts)
            let third = try #require(try await client.next(after: second))
            #expect((third.firstRank, third.posts.count) == (21, 5))
            #expect(try await client.next(after: third) == nil)
            let back = try #require(try await client.previous(before: second))
            #expect(back.posts == first.posts)
            #expect(try await client.previous(before: back) == nil)
            let filtered = PostList(feed: "posts", order: .new, authorID: 9)
            let none = try await client.listPosts(filtered, pageSize: 3)
            #expect((none.list, none.pageSize) == (filtered, 3))
            let around = try await client.listPosts(
                order: .top,
                pageSize: 5,
                from: .around(second.posts[4].id)
            )
            #expect(around.posts.map(\.id) == second.posts[2..<7].map(\.id))
            let ranked = try await client.listPosts(order: .top, pageSize: 10, from: .rank(11))
            #expect(ranked.posts == second.posts)
            #expect(try await client.rank(of: second.posts[0].id).rank == 11)
            let token = try #require(first.next)
            let mismatch = await refusal {
                try await client.listPosts(order: .new, from: .token(token))
            }
            #expect(mismatch == .pageTokenMismatch)
            let size = await refusal { try await client.listPosts(pageSize: -1) }
            #expect(size == .badPageSize)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func refreshesBringWhatIsNewer(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let old = try await client.createPost(PostDraft(text: "one"), in: "tweets")
            let page = try await client.listPosts(in: "tweets")
            let new = try await client.createPost(PostDraft(text: "two"), in: "tweets")
            let newer = try await client.listPosts(
                in: "tweets",
                from: .token(try #require(page.refresh))
            )
            #expect(newer.posts.first?.id == new.id)
            let since = try await client.listPosts(in: "tweets", from: .newerThan(old.id))
            #expect(since.posts.map(\.id) == [new.id])
        }
    }

    @Test(
        "newer_count counts also the posts that the list's filters leave out",
        arguments: ClientKind.allCases
    )
    func newerCountKnowsNoFilters(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.device()
            let old = try await client.createPost(PostDraft(title: "old"))
            let ids = try await Self.make(10, client)
            try await client.mark(
                ids.enumerated().filter { $0.offset % 3 != 2 }.map(\.element),
                as: .read
            )
            let list = PostList(feed: "posts", order: .new, unreadOnly: true)
            var page = try await client.listPosts(list, pageSize: 2, from: .newerThan(old.id))
            var shown = page.posts.map(\.id).reversed() as [PostID]
            var newestTime = page.posts.first?.createTimeMilliseconds
            // The third and the sixth post are shown, and four are behind them.
            #expect(page.newerCount == 4)
            while page.newerCount > 0 {
                let start = PageStart.token(try #require(page.refresh))
                page = try await client.listPosts(list, pageSize: 2, from: start)
                // Posts of the millisecond in which the last page was read come twice.
                let repeated = page.posts.filter { shown.contains($0.id) }
                #expect(repeated.allSatisfy { $0.createTimeMilliseconds == newestTime })
                newestTime = page.posts.first?.createTimeMilliseconds ?? newestTime
                shown += page.posts.map(\.id).reversed().filter { !shown.contains($0) }
            }
            #expect(shown == [ids[2], ids[5], ids[8]])
        }
    }

    private static func make(_ count: Int, _ client: any FeedCalling) async throws -> [PostID] {
        var ids: [PostID] = []
        for number in 0..<count {
            ids.append(try await client.createPost(PostDraft(title: "\(number)")).id)
        }
        return ids
    }

    @Test(arguments: ClientKind.allCases)
    func stablePagesKeepTheirOrder(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let ids = try await Self.fill(client, 20)
            let list = PostList(order: .top, consistency: .stable)
            let first = try await client.listPosts(list, pageSize: 10)
            #expect(first.consistency == .stable)
            for id in ids.suffix(3) { for _ in 0..<40 { try await client.vote(on: id, .up) } }
            let second = try await client.listPosts(
                list,
                pageSize: 10,
                from: .token(try #require(first.next))
            )
            #expect(second.consistency == .stable)
            let shown = (first.posts + second.posts).map(\.id)
            #expect(Set(shown) == Set(ids) && shown.count == 20)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func marksHideAndCountPosts(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.device()
            let ids = try await Self.fill(client, 10)
            #expect(try await client.mark([ids[0], ids[1]], as: .read) == 8)
            #expect(try await client.mark([ids[1], ids[2]], as: .dismissed) == 7)
            #expect(
                try await client.getPost(ids[1]).viewer == Viewer(isRead: true, isDismissed: true)
            )
            #expect(try await Self.titles(client, PostList(unreadOnly: true)).count == 7)
            #expect(try await Self.titles(client, PostList()).count == 8)
            #expect(try await Self.titles(client, PostList(includesDismissed: true)).count == 10)
            let last = try await client.listPosts(order: .new, pageSize: 1).posts[0]
            #expect(try await client.mark(through: last.id, as: .dismissed) == 0)
            #expect(try await client.listPosts().posts == [])
            #expect(try await client.feeds().map(\.unreadCount) == [0, 0])
            try await client.mark(through: last.id, as: .restored)
            #expect(try await Self.titles(client, PostList()).count == 10)
            let nobody = try await bench.anonymous()
            #expect(await refusal { try await nobody.mark(ids, as: .read) } == .identityRequired)
        }
    }
}
