import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// The meaning of valid calls.
@Suite(.timeLimit(.minutes(10)))
struct CallTests {
    @Test("T-CALL-3: a deleted post is gone for votes, and a repeated delete is fine")
    func deletesForGood() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "short-lived")
            _ = try client.vote(id)
            #expect(try client.call(.deletePost(DeletePostRequest(id: id))).status == nil)
            #expect(try client.call(.deletePost(DeletePostRequest(id: id))).status == nil)
            let vote = CastVoteRequest(postID: id, direction: .up)
            #expect(try client.call(.castVote(vote)).status?.reason == .postNotFound)
            let unknown = DeletePostRequest(id: id + 1000)
            #expect(try client.call(.deletePost(unknown)).status?.reason == .postNotFound)
            #expect(try client.list(ListPostsRequest()).totalSize == 0)
        }
    }

    @Test("T-CALL-5: a new post has the service's id, times and votes, not the request's")
    func ignoresTheCallersClock() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let forged = Post(
                id: 77,
                title: "forged",
                score: 5,
                upvoteCount: 5,
                createTimeMilliseconds: 1,
                updateTimeMilliseconds: .max,
                revision: 99
            )
            let answer = try client.call(.createPost(CreatePostRequest(post: forged)))
            guard case .post(let post) = answer.response else {
                Issue.record("CreatePost answers with the post.")
                return
            }
            #expect((post.id, post.score, post.upvoteCount, post.revision) == (1, 0, 0, 1))
            #expect(post.createTimeMilliseconds > 1_700_000_000_000)
            #expect(post.updateTimeMilliseconds == post.createTimeMilliseconds)
        }
    }

    @Test("T-CALL-9: bounds the page size", arguments: [(0, 20), (7, 7), (100, 100), (1000, 100)])
    func boundsThePageSize(_ asked: Int32, _ given: Int) async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            for number in 0..<120 { _ = try client.createPost(title: "post \(number)") }
            let page = try client.list(ListPostsRequest(pageSize: asked))
            #expect(page.posts.count == given)
            #expect(page.totalSize == 120)
        }
    }

    @Test("T-CALL-10: refuses tokens that were not given for this list")
    func refusesForgedTokens() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            for number in 0..<30 { _ = try client.createPost(title: "post \(number)") }
            let token = try client.list(ListPostsRequest(order: .top)).nextPageToken
            var forgeries = token.indices.map { index in
                var forged = token
                forged[index] ^= 1
                return forged
            }
            forgeries += token.indices.dropFirst().map { Array(token[..<$0]) }
            forgeries.append(token + [0])
            for forged in forgeries {
                let answer = try client.call(
                    .listPosts(ListPostsRequest(order: .top, pageToken: forged))
                )
                #expect(answer.status?.reason == .pageTokenMismatch)
            }
            let foreign = [
                ListPostsRequest(order: .new, pageToken: token),
                ListPostsRequest(feed: "posts", order: .top, pageToken: token),
            ]
            for request in foreign {
                let answer = try client.call(.listPosts(request))
                #expect(answer.status?.reason == .pageTokenMismatch)
            }
            #expect(
                try client.list(ListPostsRequest(order: .top, pageToken: token)).firstRank == 21
            )
            _ = try client.hello(clientID: [UInt8](1...16))
            let asAnother = try client.call(
                .listPosts(ListPostsRequest(order: .top, pageToken: token))
            )
            #expect(asAnother.status?.reason == .pageTokenMismatch)
        }
    }

    @Test("T-CALL-11: continues after the key of a deleted post")
    func continuesAfterADeletedAnchor() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            var ids: [UInt64] = []
            for number in 0..<30 {
                ids.append(try client.createPost(title: String(UnicodeScalar(UInt8(65 + number)))))
            }
            let first = try client.list(ListPostsRequest(order: .top, pageSize: 10))
            _ = try client.call(.deletePost(DeletePostRequest(id: ids[9])))
            let second = try client.list(
                ListPostsRequest(order: .top, pageSize: 10, pageToken: first.nextPageToken)
            )
            #expect(second.posts.map(\.id) == Array(ids[10..<20]))
            let back = try client.list(
                ListPostsRequest(order: .top, pageSize: 10, pageToken: second.previousPageToken)
            )
            #expect(back.posts.map(\.id) == Array(ids[0..<9]))
        }
    }

    @Test("T-TEXT-3: takes a title of 255 characters and 1,024 bytes")
    func takesTheLongestTitle() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let title = String(repeating: "\u{1f34e}", count: 255)
            let id = try client.createPost(title: title)
            guard case .post(let post) = try client.call(.getPost(GetPostRequest(id: id))).response
            else {
                Issue.record("GetPost answers with the post.")
                return
            }
            #expect(post.title == title)
        }
    }

    @Test("updates the fields that the mask names, and only on the revision that was read")
    func updates() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "before")
            func get() throws -> Post {
                guard
                    case .post(let post) = try client.call(.getPost(GetPostRequest(id: id)))
                        .response
                else { throw TestSocket.Failure.endOfFile(received: 0, wanted: 1) }
                return post
            }
            let before = try get()
            _ = try client.vote(id)
            var change = Post(id: id, title: "after", text: "ignored", revision: before.revision)
            let update = UpdatePostRequest(post: change, updateMask: [.title])
            #expect(try client.call(.updatePost(update)).status == nil)
            let after = try get()
            #expect((after.title, after.text, after.score) == ("after", "", 1))
            #expect(after.revision > before.revision)
            change.title = "too late"
            let late = UpdatePostRequest(post: change, updateMask: [.title])
            #expect(try client.call(.updatePost(late)).status?.reason == .revisionMismatch)
            #expect(try get().title == "after")
        }
    }

    @Test("takes the revision of any answer since the last edit, and none from before or to come")
    func updatesOnTheRevisionOfAnAnswer() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "a")
            let other = try client.createPost(title: "b")
            _ = try client.vote(other)
            // The answer's revision is above the post's: other posts have changed since.
            let read = try client.call(.getPost(GetPostRequest(id: id))).revision
            func edit(_ revision: UInt64) throws -> ServerFrame {
                let post = Post(id: id, title: "edited", revision: revision)
                return try client.call(
                    .updatePost(UpdatePostRequest(post: post, updateMask: [.title]))
                )
            }
            let future = try edit(read + 1000)
            #expect(future.status?.reason == .revisionMismatch)
            let first = try edit(read)
            #expect(first.status == nil)
            #expect(try edit(read).status?.reason == .revisionMismatch)
            _ = try client.vote(other)
            let seen = try client.call(.getPost(GetPostRequest(id: id))).revision
            let early = DeletePostRequest(id: id, revision: read)
            #expect(try client.call(.deletePost(early)).status?.reason == .revisionMismatch)
            let late = DeletePostRequest(id: id, revision: seen)
            #expect(try client.call(.deletePost(late)).status == nil)
        }
    }

    @Test("finds a post's place, and the page around it")
    func findsPlaces() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            var ids: [UInt64] = []
            for number in 0..<50 {
                ids.append(try client.createPost(title: String(UnicodeScalar(UInt8(65 + number)))))
            }
            let rank = try client.call(
                .getPostRank(GetPostRankRequest(id: ids[29], order: .top))
            )
            #expect(rank.response == .postRank(PostRank(rank: 30, totalSize: 50)))
            let around = try client.list(
                ListPostsRequest(feed: "posts", order: .top, start: .aroundPostID(ids[29]))
            )
            #expect(around.posts.contains { $0.id == ids[29] })
            #expect(around.posts.first?.id == ids[Int(around.firstRank) - 1])
            let fromRank = try client.list(
                ListPostsRequest(feed: "posts", order: .top, start: .rank(41))
            )
            #expect(fromRank.posts.map(\.id) == Array(ids[40...]))
            #expect(fromRank.nextPageToken.isEmpty)
        }
    }

    @Test(
        "a tweet has 1 to 140 characters",
        arguments: [(0, false), (1, true), (140, true), (141, false)]
    )
    func boundsTweets(_ length: Int, _ isAccepted: Bool) async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let post = Post(text: String(repeating: "t", count: length))
            let answer = try client.call(
                .createPost(CreatePostRequest(feed: "tweets", post: post))
            )
            #expect((answer.status == nil) == isAccepted)
        }
    }

    @Test("a page of the longest feed name and texts fits, and ends early")
    func fitsAPageOfLongNames() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let feed = String(repeating: "f", count: 63)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: Feed(name: feed))))
            let post = Post(
                title: "t",
                text: String(repeating: "x", count: 10_000),
                linkURL: String(repeating: "u", count: 399)
            )
            for _ in 0..<100 {
                let create = CreatePostRequest(feed: feed, post: post)
                #expect(try client.call(.createPost(create)).status == nil)
            }
            let first = try client.list(ListPostsRequest(feed: feed, pageSize: 100))
            #expect(first.posts.count < 100)
            let rest = try client.list(
                ListPostsRequest(feed: feed, pageSize: 100, pageToken: first.nextPageToken)
            )
            #expect(first.posts.count + rest.posts.count == 100)
        }
    }

    @Test("a feed's name that no feed can have is not repeated")
    func refusesAHugeFeedName() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let name = String(repeating: "n", count: 1_000_000)
            let answer = try client.call(.listPosts(ListPostsRequest(feed: name)))
            #expect(answer.status?.reason == .feedNotFound)
            #expect((answer.status?.message.utf8.count ?? 0) < 200)
            #expect(try client.call(.getServerStats).status == nil)
        }
    }

    @Test("a page ends early, with a token, where the next post would not fit into the frame")
    func endsAPageThatWouldNotFit() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let text = String(repeating: "x", count: 10_000)
            for number in 0..<110 {
                let post = Post(
                    title: "\(number)",
                    text: text,
                    linkURL: String(repeating: "u", count: 2000)
                )
                _ = try client.call(.createPost(CreatePostRequest(post: post)))
            }
            var seen: [UInt64] = []
            var token: [UInt8] = []
            var counts: [Int] = []
            repeat {
                let page = try client.list(
                    ListPostsRequest(order: .old, pageSize: 100, pageToken: token)
                )
                seen += page.posts.map(\.id)
                token = page.nextPageToken
                counts.append(page.posts.count)
            } while !token.isEmpty
            #expect(counts[0] < 100)
            #expect(seen == seen.sorted())
            #expect(seen.count == 110)
        }
    }
}
