import FeedLog
import FeedRanking

/// What commands come to, by the rules of the service told anew in dictionaries: what the state is
/// held against.
struct CommandModel: Equatable {
    /// How many devices vote.
    static let deviceCount: UInt64 = 6

    /// A post with its ballots by device.
    struct Post: Equatable {
        var feed: UInt32
        var keepsBallots: Bool
        var content: PostContent
        var createTime: Int64
        var updateTime: Int64
        var upvotes: UInt64
        var downvotes: UInt64
        var ballots: [UInt64: VoteDirection] = [:]
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
    /// The devices that were voters.
    var devices: Set<UInt64> = []
    /// The accounts, their sessions and what viewers have marked.
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
        case .vote(let id, let direction, let device): return vote(id, direction, device, time)
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
        case .batch: preconditionFailure("A batch is executed item by item.")
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
    mutating func upvote(_ id: UInt64, at time: Int64) -> Bool { vote(id, .up, 0, time) != nil }

    private mutating func vote(
        _ id: UInt64,
        _ direction: VoteDirection,
        _ device: UInt64,
        _ time: Int64
    ) -> Outcome? {
        guard var post = posts[id] else { return nil }
        if post.keepsBallots {
            let old = post.ballots[device]
            let new = direction == .clear ? nil : direction
            if new != nil { devices.insert(device) }
            guard old != new else { return .done }
            post.addToRisingSum(old, at: time, isNew: false)
            if old == .up { post.upvotes -= 1 }
            if old == .down { post.downvotes -= 1 }
            post.ballots[device] = new
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
            keepsBallots: feeds[Int(feed)].voteMode == .ballot,
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
