import FeedLog
import FeedRanking

/// What commands come to, by the rules of the service told anew in dictionaries: what the state is
/// held against.
struct CommandModel: Equatable {
    /// The devices and users that vote and mark: users with accounts, and those of a service.
    static let voters: [VoterKey] =
        (0..<6).map { .device(Device16(high: $0, low: ~$0)) }
        + [1, 2, 1 << 63 | 1, 1 << 63 | 2].map { .user($0) }

    /// A post with its ballots by voter.
    struct Post: Equatable {
        var feed: UInt32
        var keepsBallots: Bool
        var content: PostContent
        var createTime: Int64
        var updateTime: Int64
        var upvotes: UInt64
        var downvotes: UInt64
        var ballots: [VoterKey: VoteDirection] = [:]
        var revision: UInt64
        var editRevision: UInt64
        /// What RISING sorts by; `initial` before the first vote that is up.
        var risingSum = RisingSum.initial

        /// Counts a vote that is up, or one that was taken back and counts on.
        mutating func addToRisingSum(_ direction: VoteDirection?, at time: Int64, isNew: Bool) {
            guard direction == .up else { return }
            if risingSum.isInitial {
                risingSum = RisingSum(upvoteCount: upvotes, createTimeMilliseconds: createTime)
            }
            guard isNew else { return }
            let weight = VoteWeight(milliseconds: time)
            risingSum = risingSum.adding(weight, createTimeMilliseconds: createTime)
        }
    }

    var posts: [UInt64: Post] = [:]
    var feeds = [FeedPolicy.posts, .tweets]
    /// The devices and users that have a voter number.
    var voters: Set<VoterKey> = []
    /// What each of them has marked.
    var marks: [VoterKey: MarkModel] = [:]
    /// The accounts and their sessions.
    var viewers = ViewerModel()
    /// The outcomes of the numbered calls of each channel that said Hello, by sequence.
    var calls: [UInt32: [UInt64: Outcome]] = [:]
    var lastID: UInt64 = 0
    var revision: UInt64 = 0

    /// The numbered calls that a channel must remember.
    func remembered(_ channel: UInt32) -> [UInt64: Outcome] {
        let calls = calls[channel] ?? [:]
        let highest = calls.keys.max() ?? 0
        return calls.filter { $0.key + 256 > highest }
    }

    /// Executes a command that is no batch; nil where it is refused, and changes nothing.
    mutating func execute(_ command: StoreCommand, at time: Int64) -> Outcome? {
        switch command {
        case .vote(let id, let direction, let voter): return vote(id, direction, voter, time)
        case .create(let content, let feed):
            guard feed < feeds.count else { return nil }
            return .id(insert(content, feed, time))
        case .update(let id, let changes):
            guard var post = posts[id] else { return nil }
            post.content.title = changes.title ?? post.content.title
            post.content.text = changes.text ?? post.content.text
            post.content.commentCount = changes.commentCount ?? post.content.commentCount
            post.revision = takeRevision()
            post.editRevision = post.revision
            post.updateTime = time
            posts[id] = post
            return .done
        case .delete(let id):
            guard id > 0, id <= lastID else { return nil }
            if posts.removeValue(forKey: id) != nil { _ = takeRevision() }
            return .done
        case .importPosts(let imported, let feed):
            guard feed < feeds.count else { return nil }
            let first = lastID + 1
            for post in imported {
                let id = insert(post.content, feed, post.createTimeMilliseconds)
                posts[id]?.upvotes = post.upvoteCount
                posts[id]?.downvotes = post.downvoteCount
            }
            return .id(first)
        case .createFeed(let policy):
            guard !feeds.contains(where: { $0.name == policy.name }) else { return nil }
            feeds.append(policy)
            return .done
        case .correctTimes(let bound, let time):
            for id in posts.keys.sorted() { correctTimes(of: id, after: bound, to: time) }
            return .done
        case .account(let entries):
            for entry in entries { viewers.apply(entry) }
            return .done
        case .mark(let ids, let mark, let viewer):
            voters.insert(viewer)
            for post in ids.compactMap(origin) {
                marks[viewer, default: MarkModel()].mark(post, as: mark)
            }
            return .done
        case .markThrough(let id, let feed, let mark, let viewer):
            voters.insert(viewer)
            guard let post = origin(of: id), feed == nil || feed == post.feed else { return nil }
            marks[viewer, default: MarkModel()].mark(through: post, in: feed, as: mark)
            return .done
        case .batch: preconditionFailure("A batch is executed item by item.")
        }
    }

    /// What decides which marks reach a post; nil where the post is gone.
    func origin(of id: UInt64) -> PostOrigin? {
        posts[id].map { post in
            PostOrigin(
                id: PostID(rawValue: id),
                feed: FeedID(rawValue: post.feed),
                createTimeMilliseconds: post.createTime
            )
        }
    }

    private mutating func correctTimes(of id: UInt64, after bound: Int64, to time: Int64) {
        guard var post = posts[id], max(post.createTime, post.updateTime) > bound else { return }
        if post.createTime > bound { post.createTime = time }
        if post.updateTime > bound { post.updateTime = time }
        post.revision = takeRevision()
        post.editRevision = post.revision
        posts[id] = post
    }

    /// Executes a batch's item.
    mutating func upvote(_ id: UInt64, by voter: VoterKey, at time: Int64) -> Bool {
        vote(id, .up, voter, time) != nil
    }

    private mutating func vote(
        _ id: UInt64,
        _ direction: VoteDirection,
        _ voter: VoterKey,
        _ time: Int64
    ) -> Outcome? {
        guard var post = posts[id] else { return nil }
        if post.keepsBallots {
            let old = post.ballots[voter]
            let new = direction == .clear ? nil : direction
            let isForUsers = feeds[Int(post.feed)].voteMode == .userBallot
            if case .device = voter, isForUsers { return nil }
            if new != nil || isForUsers { voters.insert(voter) }
            guard old != new else { return .done }
            post.addToRisingSum(old, at: time, isNew: false)
            if old == .up { post.upvotes -= 1 }
            if old == .down { post.downvotes -= 1 }
            post.ballots[voter] = new
        } else if direction == .clear {
            return nil
        }
        post.addToRisingSum(direction, at: time, isNew: true)
        if direction == .up { post.upvotes += 1 }
        if direction == .down { post.downvotes += 1 }
        post.revision = takeRevision()
        posts[id] = post
        return .done
    }

    private mutating func insert(_ content: PostContent, _ feed: UInt32, _ time: Int64) -> UInt64 {
        lastID += 1
        let revision = takeRevision()
        posts[lastID] = Post(
            feed: feed,
            keepsBallots: feeds[Int(feed)].voteMode != .tally,
            content: content,
            createTime: time,
            updateTime: time,
            upvotes: 0,
            downvotes: 0,
            revision: revision,
            editRevision: revision
        )
        return lastID
    }

    private mutating func takeRevision() -> UInt64 {
        revision += 1
        return revision
    }
}
