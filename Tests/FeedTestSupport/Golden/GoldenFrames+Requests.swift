package import FeedProto

extension GoldenFrames {
    /// Requests of version 0.1, of every call: a session with a service that is new, in their order.
    package static var requests: [Named<ClientFrame>] {
        let requests: [(String, Request)] = [
            ("hello", .hello(HelloRequest(clientName: "old", clientID: Array(1...16), channel: 3))),
            ("ping", .ping(PingRequest(payload: [0, 128, 255]))),
            ("create_feed", .createFeed(CreateFeedRequest(feed: feed))),
            ("create_post", .createPost(CreatePostRequest(feed: "golden", post: post))),
            (
                "import_posts",
                .importPosts(ImportPostsRequest(feed: "golden", posts: [imported, imported]))
            ),
            ("get_post", .getPost(GetPostRequest(id: 1))),
            ("batch_get_posts", .batchGetPosts(BatchGetPostsRequest(ids: [1, 3, 99]))),
            (
                "list_posts",
                .listPosts(ListPostsRequest(feed: "golden", order: .old, pageSize: 2))
            ),
            (
                "list_posts_around",
                .listPosts(ListPostsRequest(feed: "golden", order: .new, start: .aroundPostID(2)))
            ),
            (
                "list_posts_from_rank",
                .listPosts(ListPostsRequest(feed: "golden", order: .hot, start: .rank(2)))
            ),
            (
                "update_post",
                .updatePost(
                    UpdatePostRequest(
                        post: Post(id: 1, title: "Changed", commentCount: 7),
                        updateMask: [.title, .commentCount]
                    )
                )
            ),
            ("get_post_rank", .getPostRank(GetPostRankRequest(id: 2, order: .top))),
            ("cast_vote", .castVote(CastVoteRequest(postID: 1, direction: .up))),
            (
                "batch_cast_votes",
                .batchCastVotes(
                    BatchCastVotesRequest(votes: [
                        CastVoteRequest(postID: 2, direction: .down),
                        CastVoteRequest(postID: 99, direction: .up),
                        CastVoteRequest(postID: 1, direction: .clear),
                    ])
                )
            ),
            ("list_feeds", .listFeeds),
            ("get_server_stats", .getServerStats),
            ("delete_post", .deletePost(DeletePostRequest(id: 3))),
            ("backup", .backup),
        ]
        return requests.enumerated().map { index, named in
            let isNumbered = ["create_post", "import_posts", "cast_vote"].contains(named.0)
            return Named(
                name: named.0,
                frame: ClientFrame(
                    id: UInt64(index) + 1,
                    request: named.1,
                    timeoutMilliseconds: 60_000,
                    sequence: isNumbered ? UInt64(index) + 1 : 0,
                    minimumRevision: named.0 == "get_post" ? 1 : 0
                )
            )
        }
    }

    private static let feed = Feed(
        name: "golden",
        defaultOrder: .new,
        voteMode: .ballot,
        maximumTitleLength: 200,
        minimumTextLength: 0,
        maximumTextLength: 1400,
        voters: .devices
    )

    private static let post = Post(
        author: User(id: 0, displayName: "Ada Lovelace"),
        title: "Naïve 🍎\r\n\t",
        text: "Text",
        linkURL: "https://example.org/a",
        thumbnailURL: "https://example.org/t.png",
        imageURL: "https://example.org/i.png",
        commentCount: 300
    )

    private static let imported = Post(
        title: "Imported",
        upvoteCount: 1 << 40,
        downvoteCount: 12,
        createTimeMilliseconds: 1_331_610_464_000
    )
}
