package import FeedProto

extension Samples {
    /// An answer of each kind; made anew each time, as `requests` are.
    package static var responses: [Response] {
        [
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
                        maximumSyncPostCount: 11,
                        maximumWatchTopCount: 12,
                        maximumTimeoutMilliseconds: 7,
                        idleTimeoutMilliseconds: 8,
                        sequenceWindow: 10,
                        maximumImportPostCount: 9,
                        maximumWatchPostCount: 13,
                        maximumWatchCount: 14
                    ),
                    user: User(id: .max, displayName: "Ann", createTimeMilliseconds: .min),
                    capabilities: [.exactlyOnce, Capability(rawValue: 12)],
                    isClientKnown: true,
                    lastSequence: .max
                )
            ),
            .ping(PingResponse(payload: [1], serving: .draining)),
            .goAway(GoAway(lastID: 3, drainMilliseconds: 10_000, reason: .draining)),
            .session(
                UserSession(
                    token: Array(0..<32),
                    user: User(id: 1, displayName: "Ann"),
                    expireTimeMilliseconds: .max,
                    createdUser: true
                )
            ),
            .post(post),
            .importPosts(ImportPostsResponse(ids: [1, 2, .max])),
            .batchGetPosts(BatchGetPostsResponse(posts: [post, Post(id: 2)], missingIDs: [9, 8])),
            .listPosts(
                ListPostsResponse(
                    posts: [post, post],
                    nextPageToken: [1],
                    previousPageToken: [2, 3],
                    refreshToken: [4],
                    firstRank: 21,
                    totalSize: 1000,
                    newerCount: .max,
                    consistency: .live
                )
            ),
            .syncPosts(
                SyncPostsResponse(
                    posts: [post, Post(id: 2, feed: "posts", revision: 3, isDeleted: true)],
                    nextRevision: .max,
                    hasMore: true,
                    isReset: true,
                    copyRevision: 1 << 40,
                    instanceID: .max
                )
            ),
            .watchPosts(
                WatchPostsEvent(
                    changed: [post],
                    ranking: [2, 1, .max],
                    removedIDs: [3],
                    newPostCount: .max,
                    isReset: true
                )
            ),
            .postRank(PostRank(rank: 1, totalSize: 2)),
            .castVote(voted),
            .batchCastVotes(
                BatchCastVotesResponse(results: [
                    CastVoteResult(status: nil, vote: voted),
                    CastVoteResult(status: status, vote: nil),
                ])
            ),
            .markPosts(MarkPostsResponse(unreadCount: .max)),
            .listFeeds(ListFeedsResponse(feeds: [feed, Feed(name: "posts")])),
            .serverStats(
                ServerStats(
                    serverName: "feed-service",
                    startTimeMilliseconds: 1,
                    connectionCount: 2,
                    postCount: 3,
                    revision: 4,
                    methods: [
                        MethodStats(method: "cast_vote", requestCount: 5, errorCount: 6),
                        MethodStats(method: "ping", requestCount: 7, errorCount: 8, lastError: "X"),
                    ],
                    snapshotCount: 20,
                    snapshotByteCount: 21,
                    watchCount: 26,
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
                    repeatedCallCount: 18,
                    accountCount: 22,
                    sessionCount: 23,
                    queuedHashCount: 24,
                    refusedSignInCount: 25,
                    backups: backups,
                    latencies: [latency("cast_vote"), latency("ping")],
                    heldTime: latency(""),
                    watchingPeers: [WatchingPeer(peer: "10.0.0.7", watchCount: .max)],
                    postByteCount: .max,
                    postLimitByteCount: 1,
                    refusedPostCount: 2
                )
            ),
            .feed(feed),
            .backup(BackupResponse(name: "20270115T080000Z", revision: .max)),
            .correctTimes(
                CorrectTimesResponse(
                    posts: [
                        PostTimes(
                            id: .max,
                            feed: "posts",
                            title: "Naïve 🍎",
                            createTimeMilliseconds: .max,
                            updateTimeMilliseconds: -1
                        ), PostTimes(id: 1),
                    ],
                    nextAfterID: .max,
                    serverTimeMilliseconds: 1
                )
            ),
            .deletePosts(
                DeletePostsResponse(
                    posts: [
                        PostOrigin(
                            id: .max,
                            feed: "posts",
                            title: "Naïve 🍎",
                            createTimeMilliseconds: .min,
                            authorID: .max,
                            clientID: [0, 255],
                            host: "2001:db8::"
                        ), PostOrigin(id: 1),
                    ],
                    nextAfterID: .max,
                    originsSinceTimeMilliseconds: 1
                )
            ),
            .empty,
        ]
    }
}
