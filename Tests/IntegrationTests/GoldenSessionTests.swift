import FeedProto
import FeedTestSupport
import Testing

/// A client of version 0.1, as its bytes were, against the service of today.
@Suite(.timeLimit(.minutes(10)), DurableService.needed) struct GoldenSessionTests {
    @Test("T-VER-4: the service answers an old client's requests")
    func answersAnOldClient() async throws {
        let directory = try TemporaryDirectory()
        let service = try await DurableService.start(directory.path)
        let answers = try await service.call { client in
            let frames = try GoldenFrames.bytes("0.1/requests.txt")
            var answers: [String: ServerFrame] = [:]
            for golden in GoldenFrames.requests {
                try client.socket.send(frames[golden.name] ?? [])
                guard let answer = try client.receive() else { throw KillRunError.noAnswer }
                answers[golden.name] = answer
            }
            return answers
        }
        let ids = GoldenFrames.requests.map { answers[$0.name]?.id }
        #expect(ids == GoldenFrames.requests.map(\.frame.id))
        for (name, answer) in answers {
            #expect(answer.status == nil, "\(name)")
            #expect(Self.kinds[name]?(answer.response) == true, "\(name): \(answer)")
        }
        #expect(Set(answers.keys) == Set(Self.kinds.keys))
        #expect(await service.stop() == 0)
    }

    /// What has to come back, by request.
    private static let kinds: [String: @Sendable (Response?) -> Bool] = [
        "hello": {
            guard case .hello(let hello) = $0 else { return false }
            return hello.protocolVersion == 1 && !hello.isClientKnown
        },
        "ping": { $0 == .ping(PingResponse(payload: [0, 128, 255], serving: .serving)) },
        "create_feed": {
            guard case .feed(let feed) = $0 else { return false }
            return feed.name == "golden" && feed.voteMode == .ballot && feed.voters == .devices
        },
        "create_post": {
            guard case .post(let post) = $0 else { return false }
            return post.id == 1 && post.title == "Naïve 🍎\r\n\t" && post.commentCount == 300
        },
        "import_posts": { $0 == .importPosts(ImportPostsResponse(ids: [2, 3])) },
        "get_post": {
            guard case .post(let post) = $0 else { return false }
            return post.author?.displayName == "Ada Lovelace"
        },
        "batch_get_posts": {
            guard case .batchGetPosts(let response) = $0 else { return false }
            return response.posts.map(\.id) == [1, 3] && response.missingIDs == [99]
        },
        "list_posts": {
            guard case .listPosts(let page) = $0 else { return false }
            return page.posts.map(\.id) == [2, 3] && page.totalSize == 3
                && !page.nextPageToken.isEmpty
        },
        "list_posts_around": {
            guard case .listPosts(let page) = $0 else { return false }
            return page.posts.contains { $0.id == 2 }
        },
        "list_posts_from_rank": {
            guard case .listPosts(let page) = $0 else { return false }
            return page.firstRank == 2 && page.posts.count == 2
        },
        "update_post": {
            guard case .post(let post) = $0 else { return false }
            return post.title == "Changed" && post.text == "Text" && post.commentCount == 7
        },
        "get_post_rank": { $0 == .postRank(PostRank(rank: 1, totalSize: 3)) },
        "cast_vote": {
            $0
                == .castVote(
                    CastVoteResponse(
                        postID: 1,
                        score: 1,
                        upvoteCount: 1,
                        downvoteCount: 0,
                        vote: .up
                    )
                )
        },
        "batch_cast_votes": {
            guard case .batchCastVotes(let response) = $0 else { return false }
            return response.results.map(\.vote?.downvoteCount) == [13, nil, 0]
                && response.results[1].status?.reason == .postNotFound
        },
        "list_feeds": {
            guard case .listFeeds(let response) = $0 else { return false }
            return response.feeds.map(\.name).contains("golden")
        },
        "get_server_stats": {
            guard case .serverStats(let stats) = $0 else { return false }
            return stats.postCount == 3 && stats.durability == "fsync"
        },
        "delete_post": { $0 == .empty },
        "backup": {
            guard case .backup(let backup) = $0 else { return false }
            return !backup.name.isEmpty && backup.revision > 0
        },
    ]
}
