package import FeedProto

extension GoldenFrames {
    /// Answers of version 0.1, of every kind and with every field set, and a failure.
    package static var answers: [Named<ServerFrame>] {
        let responses: [(String, Response)] = [
            (
                "hello",
                .hello(
                    HelloResponse(
                        serverName: "feed-service",
                        instanceID: .max,
                        serverTimeMilliseconds: 1,
                        limits: Limits(
                            maximumFrameByteCount: 1,
                            maximumInFlightCount: 2,
                            defaultPageSize: 3,
                            maximumPageSize: 4,
                            maximumBatchGetCount: 5,
                            maximumBatchVoteCount: 6,
                            maximumTimeoutMilliseconds: 7,
                            idleTimeoutMilliseconds: 8,
                            sequenceWindow: 10,
                            maximumImportPostCount: 9
                        ),
                        capabilities: [.exactlyOnce, Capability(rawValue: 12)],
                        isClientKnown: true,
                        lastSequence: .max
                    )
                )
            ),
            ("ping", .ping(PingResponse(payload: [1], serving: .draining))),
            ("go_away", .goAway(GoAway(lastID: 3, drainMilliseconds: 10_000, reason: .draining))),
            ("post", .post(post)),
            ("import_posts", .importPosts(ImportPostsResponse(ids: [1, 2, .max]))),
            (
                "batch_get_posts",
                .batchGetPosts(
                    BatchGetPostsResponse(posts: [post, Post(id: 2)], missingIDs: [9, 8])
                )
            ),
            (
                "list_posts",
                .listPosts(
                    ListPostsResponse(
                        posts: [post, post],
                        nextPageToken: [1],
                        previousPageToken: [2, 3],
                        firstRank: 21,
                        totalSize: 1000
                    )
                )
            ),
            ("post_rank", .postRank(PostRank(rank: 1, totalSize: 2))),
            ("cast_vote", .castVote(voted)),
            (
                "batch_cast_votes",
                .batchCastVotes(
                    BatchCastVotesResponse(results: [
                        CastVoteResult(status: nil, vote: voted),
                        CastVoteResult(status: status, vote: nil),
                    ])
                )
            ),
            ("list_feeds", .listFeeds(ListFeedsResponse(feeds: [feed, Feed(name: "posts")]))),
            (
                "server_stats",
                .serverStats(
                    ServerStats(
                        serverName: "feed-service",
                        startTimeMilliseconds: 1,
                        connectionCount: 2,
                        postCount: 3,
                        revision: 4,
                        methods: [
                            MethodStats(method: "cast_vote", requestCount: 5, errorCount: 6),
                            MethodStats(
                                method: "ping",
                                requestCount: 7,
                                errorCount: 8,
                                lastError: "X"
                            ),
                        ],
                        stripeContentionCount: 9,
                        acceptedConnectionCount: 10,
                        refusedConnectionCount: 11,
                        slowFrameCount: 12,
                        badFrameCount: 13,
                        bufferedByteCount: 14,
                        acceptPauseCount: 15,
                        durability: "fsync",
                        journal: journal,
                        channelCount: 16,
                        evictedChannelCount: 17,
                        repeatedCallCount: 18
                    )
                )
            ),
            ("feed", .feed(feed)),
            ("backup", .backup(BackupResponse(name: "20270115T080000Z", revision: .max))),
            ("empty", .empty),
        ]
        return responses.map { name, response in
            Named(
                name: name,
                frame: ServerFrame(id: .max, revision: 12_345, response: response)
            )
        } + [Named(name: "failure", frame: ServerFrame(id: 1, revision: 2, status: status))]
    }

    private static let post = Post(
        id: .max,
        feed: "posts",
        author: User(id: 7, displayName: "Ada Lovelace"),
        title: "Naïve 🍎\r\n\t\u{202E}",
        text: String(repeating: "long ", count: 100),
        linkURL: "https://example.org/a",
        thumbnailURL: "https://example.org/t.png",
        imageURL: "https://example.org/i.png",
        score: .min,
        upvoteCount: 1,
        downvoteCount: .max,
        commentCount: 300,
        createTimeMilliseconds: 1_700_000_000_000,
        updateTimeMilliseconds: -1,
        revision: 99,
        viewer: Viewer(vote: .down)
    )

    private static let feed = Feed(
        name: "tweets",
        defaultOrder: .new,
        voteMode: .ballot,
        maximumTitleLength: 255,
        minimumTextLength: 1,
        maximumTextLength: 140,
        postCount: 3,
        voters: .users
    )

    private static let status = Status(
        code: .invalidArgument,
        reason: .titleTooLong,
        message: "Title of 256 characters exceeds the limit of 255 characters.",
        isNotExecuted: true,
        retryAfterMilliseconds: 250,
        violations: [
            FieldViolation(field: "post.title", reason: .titleTooLong, limit: 255, actual: 256),
            FieldViolation(field: "post.text", reason: .textEmpty),
        ]
    )

    private static let voted = CastVoteResponse(
        postID: 5,
        score: -3,
        upvoteCount: 4,
        downvoteCount: 7,
        vote: .clear
    )

    private static let journal = JournalStats(
        executedPosition: 1,
        durablePosition: 2,
        checkpointedPosition: 3,
        commitCount: 4,
        effectCount: 5,
        medianCommitMicroseconds: 6,
        p99CommitMicroseconds: 7,
        maximumCommitMicroseconds: 8,
        byteCount: 9,
        heldAnswerCount: 10,
        oldestHeldMicroseconds: 11,
        freeByteCount: .max,
        isReadOnly: true
    )
}
