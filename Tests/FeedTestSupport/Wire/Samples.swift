package import FeedProto

extension Identifier {
    /// The greatest number of the wire.
    package static var max: Self { Self(rawValue: .max) }

    /// The id whose number is greater by a count.
    package func advanced(by count: Int) -> Self {
        Self(rawValue: rawValue.advanced(by: count))
    }
}

/// Frames of every kind, with every field set and numbers at the ends of their ranges.
package enum Samples {
    package static let post = Post(
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

    package static let feed = Feed(
        name: "tweets",
        defaultOrder: .new,
        voteMode: .ballot,
        maximumTitleLength: 255,
        minimumTextLength: 1,
        maximumTextLength: 140,
        postCount: 3,
        voters: .users
    )

    package static let status = Status(
        code: .invalidArgument,
        reason: .titleTooLong,
        message: "Title of 256 characters exceeds the limit of 255 characters.",
        isNotExecuted: true,
        retryAfterMilliseconds: 250,
        violations: [
            FieldViolation(field: "post.title", reason: .titleTooLong, limit: 255, actual: 256),
            FieldViolation(field: "post.text", reason: .textEmpty),
        ],
        leader: "feed2.example.org:7433"
    )

    package static let votes = [
        CastVoteRequest(postID: 1, direction: .up),
        CastVoteRequest(postID: .max, direction: VoteDirection(rawValue: -1)),
    ]

    package static let voted = CastVoteResponse(
        postID: 5,
        score: -3,
        upvoteCount: 4,
        downvoteCount: 7,
        vote: .clear
    )

    package static let backups = BackupStats(
        isRunning: true,
        copiedByteCount: 1,
        byteCount: 2,
        lastName: "20270115T080000123Z",
        lastTimeMilliseconds: 3,
        lastByteCount: 4,
        lastDurationMilliseconds: 5,
        lastError: "No room.",
        lastErrorTimeMilliseconds: .max,
        failureCount: 6,
        scheduleIntervalMilliseconds: 7,
        nextTimeMilliseconds: 8
    )

    package static func latency(_ method: String) -> LatencyStats {
        LatencyStats(
            method: method,
            answerCount: 1,
            medianNanoseconds: 2,
            p90Nanoseconds: 3,
            p99Nanoseconds: 4,
            p999Nanoseconds: 5,
            maximumNanoseconds: .max
        )
    }

    package static let journal = JournalStats(
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
        isReadOnly: true,
        checkpoints: CheckpointStats(
            backlogByteCount: 14,
            backlogLimitByteCount: 15,
            refusedCount: 16,
            underWayMicroseconds: 17,
            longestStepMicroseconds: 18,
            isStalled: true
        )
    )

    // Made anew each time: the leak checker does not know an address in an enum that keeps its case
    // in the same word, and would report the fields of a constant.
    package static var requests: [Request] {
        [
            .hello(
                HelloRequest(
                    protocolVersion: .max,
                    clientName: "client",
                    clientID: Array(0..<16),
                    sessionToken: Array(16..<48),
                    serviceKey: Array(48..<80),
                    channel: 2
                )
            ),
            .ping(PingRequest(payload: [0, 255])),
            .cancel(CancelRequest(id: .max)),
            .signUp(SignUpRequest(email: "a@b.example", password: "secret", displayName: "Ann")),
            .signIn(SignInRequest(email: "a@b", password: "secret", createsIfMissing: true)),
            .getSession,
            .signOut(SignOutRequest(endsEverywhere: true)),
            .changePassword(ChangePasswordRequest(password: "secret", newPassword: "another")),
            .changeEmail(ChangeEmailRequest(password: "secret", email: "b@b.example")),
            .deleteAccount(DeleteAccountRequest(password: "secret", keepsPosts: true)),
            .listSessions,
            .endSession(EndSessionRequest(id: .max)),
            .changeUser(ChangeUserRequest(userID: .max, change: .suspend)),
            .changeUser(ChangeUserRequest(email: "a@b.example", change: UserChange(rawValue: 9))),
            .makePasswordReset(MakePasswordResetRequest(userID: 7)),
            .makePasswordReset(MakePasswordResetRequest(email: "a@b.example")),
            .resetPassword(
                ResetPasswordRequest(token: Array(0..<32), newPassword: "another")
            ),
            .createPost(CreatePostRequest(feed: "posts", post: post)),
            .createPost(CreatePostRequest(post: nil)),
            .importPosts(ImportPostsRequest(feed: "posts", posts: [post, Post(title: "b")])),
            .getPost(GetPostRequest(id: 1)),
            .batchGetPosts(BatchGetPostsRequest(ids: [1, 0, .max])),
            .listPosts(
                ListPostsRequest(
                    feed: "posts",
                    order: .hot,
                    window: .week,
                    pageSize: .min,
                    pageToken: [1, 2, 3],
                    start: .aroundPostID(0),
                    authorID: .max,
                    unreadOnly: true,
                    includesDismissed: true,
                    consistency: .stable
                )
            ),
            .listPosts(ListPostsRequest(start: .rank(.max))),
            .listPosts(ListPostsRequest(start: .newerThanPostID(7))),
            .updatePost(
                UpdatePostRequest(post: post, updateMask: [.title, PostField(rawValue: 99)])
            ),
            .deletePost(DeletePostRequest(id: 1, revision: 2)),
            .syncPosts(
                SyncPostsRequest(
                    feed: "posts",
                    sinceRevision: .max,
                    pageSize: .min,
                    copyRevision: 1 << 40,
                    instanceID: .max,
                    marks: MarkPosition(revision: 7, copyRevision: .max)
                )
            ),
            .watchPosts(
                WatchPostsRequest(
                    feed: "posts",
                    order: .top,
                    window: .day,
                    topCount: .max,
                    postIDs: [1, .max],
                    minimumIntervalMilliseconds: 50,
                    sinceRevision: .max,
                    authorID: .max,
                    unreadOnly: true,
                    excludesDismissed: true
                )
            ),
            .getPostRank(GetPostRankRequest(id: 1, order: .old, window: .year)),
            .castVote(votes[1]),
            .batchCastVotes(BatchCastVotesRequest(votes: votes)),
            .markPosts(
                MarkPostsRequest(
                    feed: "posts",
                    mark: .dismissed,
                    postIDs: [1, .max],
                    throughPostID: 3
                )
            ),
            .listFeeds,
            .getServerStats,
            .createFeed(CreateFeedRequest(feed: feed)),
            .backup,
            .drain,
            .setLogLevel(SetLogLevelRequest(level: "debug")),
            .correctTimes(
                CorrectTimesRequest(
                    appliesCorrection: true,
                    timeMilliseconds: .min,
                    afterID: .max,
                    limit: .max
                )
            ),
            .deletePosts(
                DeletePostsRequest(
                    authorID: .max,
                    clientID: [1, 2],
                    host: "192.0.2.7",
                    sinceTimeMilliseconds: .min,
                    deletesPosts: true,
                    afterID: .max,
                    limit: .max
                )
            ),
            .clusterStatus(ClusterStatusRequest(record: .max)),
            .changeMembers(
                ChangeMembersRequest(
                    addName: "b",
                    addURL: "https://10.0.0.2:7440",
                    removeNode: "00000000000000ff"
                )
            ),
            .transferLeadership(TransferLeadershipRequest(node: "00000000000000ff")),
        ]
    }

    package static var clientFrames: [ClientFrame] {
        requests.map { request in
            ClientFrame(
                id: 300,
                request: request,
                timeoutMilliseconds: .max,
                sequence: .max,
                minimumRevision: 1 << 40,
                actingUserID: .ofService(0)
            )
        }
    }

    package static var serverFrames: [ServerFrame] {
        responses.map { ServerFrame(id: .max, revision: 12_345, response: $0) }
            + [
                ServerFrame(id: 1, revision: 2, status: status),
                ServerFrame(id: 3, revision: 4, response: .empty, hasMore: true),
            ]
    }
}

extension Samples {
    /// A cluster of three nodes, of which the first one leads, as that one knows it.
    package static var clusterStatus: ClusterStatus {
        ClusterStatus(
            node: "00000000000000fe",
            name: "a",
            cluster: "30313233343536370000000000000000",
            role: "leader",
            term: 7,
            leader: "00000000000000fe",
            firstRecord: 4_711,
            lastRecord: 9_001,
            committedRecord: 9_000,
            durableRecord: 8_990,
            logByteCount: 123_456,
            heardAgeMilliseconds: -1,
            copyCount: 1,
            members: [
                member("00000000000000fe", "a", "feed1.example.org:7433"),
                member(
                    "00000000000000ff",
                    "b",
                    "feed2.example.org:7433",
                    lagByteCount: 512,
                    isServiceGone: true
                ),
                MemberStatus(node: "1000000000000000", name: "c", url: "https://10.0.0.3:7440"),
            ],
            record: 8_999,
            chain: 0x0123_4567_89AB_CDEF
        )
    }

    private static func member(
        _ node: String,
        _ name: String,
        _ address: String,
        lagByteCount: UInt64 = 0,
        isServiceGone: Bool = false
    ) -> MemberStatus {
        MemberStatus(
            node: node,
            name: name,
            url: "https://\(name):7440",
            isVoter: true,
            isConnected: true,
            address: address,
            lowestLevel: 1,
            highestLevel: 2,
            serviceAgeMilliseconds: 400,
            matchingRecord: 9_000,
            state: "replicate",
            lagByteCount: lagByteCount,
            lagMilliseconds: lagByteCount,
            isServiceGone: isServiceGone
        )
    }

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
                        maximumWatchCount: 14,
                        maximumTitleLength: 15,
                        maximumTitleByteCount: 16
                    ),
                    user: User(id: .max, displayName: "Ann", createTimeMilliseconds: .min),
                    capabilities: [.exactlyOnce, Capability(rawValue: 12)],
                    isClientKnown: true,
                    lastSequence: .max,
                    role: .follower,
                    members: [
                        ClusterMember(address: "feed2.example.org:7433", role: .leader),
                        ClusterMember(address: "[::1]:7433", role: NodeRole(rawValue: 9)),
                    ],
                    channelNumber: .max
                )
            ),
            .ping(PingResponse(payload: [1], serving: .draining)),
            .goAway(
                GoAway(
                    lastID: 3,
                    drainMilliseconds: 10_000,
                    reason: .notLeader,
                    leader: "[::1]:7433"
                )
            ),
            .session(
                UserSession(
                    token: Array(0..<32),
                    user: User(id: 1, displayName: "Ann"),
                    expireTimeMilliseconds: .max,
                    createdUser: true
                )
            ),
            .listSessions(
                ListSessionsResponse(sessions: [
                    SessionInfo(
                        id: .max,
                        useTimeMilliseconds: 1,
                        expireTimeMilliseconds: .max,
                        isCurrent: true
                    )
                ])
            ),
            .passwordReset(
                PasswordReset(
                    token: Array(0..<32),
                    user: User(id: 1, displayName: "Ann"),
                    expireTimeMilliseconds: .max
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
                    instanceID: .max,
                    marks: MarkChanges(
                        next: MarkPosition(revision: .max, copyRevision: 2),
                        isReset: true,
                        through: [
                            MarkedThrough(
                                feed: "posts",
                                mark: .dismissed,
                                createTimeMilliseconds: .min,
                                postID: .max
                            )
                        ],
                        posts: [MarkedPost(id: .max, isRead: true, isDismissed: true)]
                    )
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
            .clusterStatus(clusterStatus),
            .changeMembers(ChangeMembersResponse(node: "00000000000000ff", token: "eyJ9")),
            .empty,
        ]
    }
}
