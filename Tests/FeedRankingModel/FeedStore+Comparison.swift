package import FeedRanking

extension FeedModel.Post {
    /// The post as a log entry has it.
    package func state(keepsBallots: Bool) -> PostState {
        PostState(
            counts: PostCounts(
                id: PostID(rawValue: id),
                upvoteCount: upvotes,
                downvoteCount: downvotes,
                revision: revision,
                risingSum: rising?.sum(ofPostAt: time) ?? .initial
            ),
            feed: FeedID(rawValue: feed),
            keepsBallots: keepsBallots,
            createTimeMilliseconds: time,
            updateTimeMilliseconds: updateTime,
            editRevision: editRevision,
            content: content
        )
    }
}

extension FeedStore {
    /// The posts in the order of their ids.
    package func sortedPosts() -> [PostState] {
        var posts: [PostState] = []
        forEachPost { posts.append($0) }
        return posts.sorted { $0.counts.id < $1.counts.id }
    }

    /// The standing ballots of a voter on posts.
    package func ballots(of voter: VoterID, on posts: [PostState]) throws -> [VoteDirection?] {
        var page = PostPage()
        for post in posts { try self.post(post.counts.id, voter: voter, into: &page) }
        return page.rows.map(\.viewerVote)
    }

    /// The first difference to what a model says, if there is any.
    package func difference(to model: FeedModel, deviceCount: UInt64) throws -> String? {
        let posts = sortedPosts()
        let expected = model.posts.values.sorted { $0.id < $1.id }
        guard posts.count == expected.count, postCount == UInt64(expected.count) else {
            return "\(posts.count) posts, \(postCount) counted, not \(expected.count)"
        }
        for (post, expected) in zip(posts, expected) {
            let state = expected.state(keepsBallots: model.ballotFeeds.contains(expected.feed))
            if post != state { return "\(post), not \(state)" }
        }
        // The model names voters by their numbers.
        for number in 0..<UInt32(deviceCount) {
            let ballots = try ballots(of: VoterID(rawValue: number), on: posts)
            for (expected, ballot) in zip(expected, ballots)
            where expected.ballots[number] != ballot {
                return "voter \(number) on \(expected.id): \(String(describing: ballot))"
            }
        }
        return nil
    }

    /// All posts of every order, by page.
    package func walks() throws -> [[PostID]] {
        var walks: [[PostID]] = []
        var page = PostPage()
        for feed in feeds().map({ Optional($0.id) }) + [nil] {
            for order in Order.allCases {
                var ids: [PostID] = []
                var query = PageQuery(feed: feed, order: order, size: 100)
                while true {
                    var allowance = RefreshAllowance(keyCount: .max)
                    _ = try self.page(query, into: &page, allowance: &allowance)
                    ids += page.rows.map(\.id)
                    guard let next = page.next else { break }
                    query.start = .cursor(next)
                }
                walks.append(ids)
            }
        }
        return walks
    }
}
