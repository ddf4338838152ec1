package import FeedProto
internal import Foundation

/// Frames as a released version has sent them, kept as bytes: clients and services of that version
/// send them still.
///
/// The values beside them never change; a later version adds a folder and values of its own.
package enum GoldenFrames {
    package struct Named<Frame: Sendable>: Sendable {
        /// What the line of its file begins with.
        package let name: String
        package let frame: Frame
    }

    /// A file's frames by name, each with its header.
    ///
    /// - Parameter path: Below `Tests/FeedProtoTests/Golden`. A line of the file is a name, a space
    ///   and the bytes as hexadecimal digits.
    /// - Returns: The bytes by name.
    /// - Throws: That the file cannot be read, or a line that is something else.
    package static func bytes(_ path: String) throws -> [String: [UInt8]] {
        let file = Programs.projectFolder.appending(path: "Tests/FeedProtoTests/Golden/\(path)")
        let text = try String(contentsOf: file, encoding: .utf8)
        var frames: [String: [UInt8]] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, words[1].utf8.count.isMultiple(of: 2) else {
                throw BadLine(text: String(line))
            }
            let digits = Array(words[1])
            frames[String(words[0])] = try stride(from: 0, to: digits.count, by: 2).map {
                guard let byte = UInt8(String(digits[$0...$0 + 1]), radix: 16) else {
                    throw BadLine(text: String(line))
                }
                return byte
            }
        }
        return frames
    }

    private struct BadLine: Error {
        let text: String
    }
}

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
            ("list_posts", .listPosts(ListPostsRequest(feed: "golden", order: .old, pageSize: 2))),
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
            ("post", .post(answeredPost)),
            ("import_posts", .importPosts(ImportPostsResponse(ids: [1, 2, .max]))),
            (
                "batch_get_posts",
                .batchGetPosts(
                    BatchGetPostsResponse(posts: [answeredPost, Post(id: 2)], missingIDs: [9, 8])
                )
            ),
            (
                "list_posts",
                .listPosts(
                    ListPostsResponse(
                        posts: [answeredPost, answeredPost],
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
            (
                "list_feeds",
                .listFeeds(ListFeedsResponse(feeds: [answeredFeed, Feed(name: "posts")]))
            ),
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
            ("feed", .feed(answeredFeed)),
            ("backup", .backup(BackupResponse(name: "20270115T080000Z", revision: .max))),
            ("empty", .empty),
        ]
        return responses.map { name, response in
            Named(name: name, frame: ServerFrame(id: .max, revision: 12_345, response: response))
        } + [Named(name: "failure", frame: ServerFrame(id: 1, revision: 2, status: status))]
    }

    private static let answeredPost = Post(
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

    private static let answeredFeed = Feed(
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
