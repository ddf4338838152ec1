import FeedProto

/// All that a service shows while nobody changes anything.
struct KillReading: Sendable {
    /// Every post of every feed.
    var posts: [Post] = []
    /// Every feed.
    var feeds: [Feed] = []
    /// By post and client the ballot that stands.
    var ballots: [UInt64: [Int: VoteDirection]] = [:]
}

extension KillModel {
    /// Compares what a service shows with what it has to hold, and takes it as the truth where it
    /// was in doubt.
    ///
    /// No command may be in doubt that is to be sent again.
    mutating func settle(_ reading: KillReading) {
        for (id, ballots) in reading.ballots { settle(ballots, of: id) }
        var seen: Set<UInt64> = []
        var titles: Set<String> = []
        for post in reading.posts {
            if !seen.insert(post.id).inserted { complain("post \(post.id) is listed twice") }
            if !titles.insert(post.title).inserted { complain("\(post.title) was made twice") }
            settle(post)
        }
        for (id, expected) in posts where !seen.contains(id) {
            if expected.deletion == .none { complain("post \(id) is lost") }
            posts[id]?.deletion = .done
        }
        // What is not there now must not come later.
        doubtfulPosts = [:]
        settle(reading.feeds, reading.posts)
    }

    private mutating func settle(_ found: [Int: VoteDirection], of post: UInt64) {
        for (client, candidates) in ballots[post] ?? [:] {
            let possible = candidates.map { $0 == .clear ? .unspecified : $0 }
            let ballot = found[client] ?? .unspecified
            if !possible.contains(ballot) {
                complain("client \(client) has ballot \(ballot) on \(post), not of \(possible)")
            }
            ballots[post]?[client] = [ballot]
        }
    }

    private mutating func settle(_ post: Post) {
        if posts[post.id] == nil, let upvotes = doubtfulPosts.removeValue(forKey: post.title) {
            posts[post.id] = ExpectedPost(title: post.title, upvotes: Votes(counted: upvotes))
        }
        guard var expected = posts[post.id] else {
            complain("nobody made post \(post.id), \(post.title)")
            return
        }
        if expected.deletion == .done { complain("post \(post.id) was deleted, and is there") }
        expected.deletion = .none
        if expected.title != post.title { complain("post \(post.id) has the title \(post.title)") }
        if !expected.texts.contains(post.text) {
            complain("post \(post.id) has the text \(post.text), not of \(expected.texts)")
        }
        expected.texts = [post.text]
        if let ballots = ballots[post.id] {
            let standing = ballots.values.compactMap(\.first)
            expected.upvotes = Votes(counted: UInt64(standing.count { $0 == .up }))
            expected.downvotes = Votes(counted: UInt64(standing.count { $0 == .down }))
        }
        if !expected.upvotes.settle(at: post.upvoteCount) {
            complain("post \(post.id) has \(post.upvoteCount) upvotes, not \(expected.upvotes)")
            expected.upvotes = Votes(counted: post.upvoteCount)
        }
        if !expected.downvotes.settle(at: post.downvoteCount) {
            complain(
                "post \(post.id) has \(post.downvoteCount) downvotes, not \(expected.downvotes)"
            )
            expected.downvotes = Votes(counted: post.downvoteCount)
        }
        posts[post.id] = expected
    }

    private mutating func settle(_ found: [Feed], _ posts: [Post]) {
        for (name, feed) in feeds {
            guard var other = found.first(where: { $0.name == name }) else {
                complain("feed \(name) is lost")
                continue
            }
            let count = UInt64(posts.count { $0.feed == name })
            if other.postCount != count {
                complain("feed \(name) says \(other.postCount) posts, and lists \(count)")
            }
            other.postCount = feed.postCount
            if other != feed { complain("feed \(name) is \(other), and was \(feed)") }
        }
    }
}
