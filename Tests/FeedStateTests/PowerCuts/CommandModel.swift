import FeedLog
import FeedRanking

/// What commands come to, by the rules of the service told anew in dictionaries: what the state is
/// held against.
struct CommandModel: Equatable {
    /// The devices and users that vote and mark: users with accounts, and those of a service.
    static let voters: [VoterKey] =
        (0..<6).map { .device(Device16(high: $0, low: ~$0)) }
        + [1, 2, 1 << 63 | 1, 1 << 63 | 2].map { .user($0) }

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
    var marks: [VoterKey: MarkModel] = [:]
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

extension CommandModel {
    /// What is otherwise in what a start has found; nil where all is alike.
    ///
    /// Counters may be ahead in the store, except the one of ids.
    func difference(to life: borrowing DurableLife) -> String? {
        let accounts = viewers.accountsState
        guard life.accounts.isAlike(accounts) else {
            return "Found \(life.accounts), expected \(accounts)."
        }
        return difference(to: life.store, life.channels)
    }

    private func difference(to store: FeedStore, _ channels: ChannelTable) -> String? {
        if let difference = difference(toPostsOf: store) { return difference }
        if let difference = difference(toVotersOf: store) { return difference }
        guard store.feeds().map(\.policy) == feeds else { return "The feeds are others." }
        guard store.highestID == lastID else {
            return "The highest id is \(store.highestID), expected \(lastID)."
        }
        guard store.revision >= revision else {
            return "The revision is \(store.revision), expected at least \(revision)."
        }
        guard channels.names == Set(calls.keys) else {
            return "The channels are \(channels.names), expected \(Set(calls.keys))."
        }
        for channel in calls.keys.sorted() {
            let found = channels.remembered(channel)
            let expected = remembered(channel)
            guard found != expected else { continue }
            let others = Set(found.keys).union(expected.keys).sorted()
                .filter { found[$0] != expected[$0] }
            return "Channel \(channel) has other outcomes of calls \(others)."
        }
        return nil
    }

    private func difference(toPostsOf store: FeedStore) -> String? {
        var found: [UInt64: PostState] = [:]
        store.forEachPost { found[$0.counts.id.rawValue] = $0 }
        for id in Set(found.keys).union(posts.keys).sorted() {
            guard let state = found[id] else { return "Post \(id) is missing." }
            guard let post = posts[id] else { return "Post \(id) should not be there." }
            let expected = PostState(
                counts: PostCounts(
                    id: PostID(rawValue: id),
                    upvoteCount: post.upvotes,
                    downvoteCount: post.downvotes,
                    revision: post.revision,
                    risingSum: post.risingSum
                ),
                feed: FeedID(rawValue: post.feed),
                keepsBallots: post.keepsBallots,
                createTimeMilliseconds: post.createTime,
                updateTimeMilliseconds: post.updateTime,
                editRevision: post.editRevision,
                content: post.content
            )
            guard state == expected else { return "Found \(state), expected \(expected)." }
        }
        guard store.postCount == UInt64(posts.count) else { return "The count of posts is wrong." }
        return nil
    }

    private func difference(toVotersOf store: FeedStore) -> String? {
        for key in Self.voters {
            let voter = store.voter(ifKnown: key)
            guard (voter != nil) == voters.contains(key) else {
                return "\(key) has the voter number \(String(describing: voter))."
            }
            guard let voter else { continue }
            if let difference = difference(toBallotsOf: key, voter, store) { return difference }
            if let difference = difference(toMarksOf: key, voter, store) { return difference }
        }
        return nil
    }

    private func difference(
        toBallotsOf key: VoterKey,
        _ voter: VoterID,
        _ store: FeedStore
    ) -> String? {
        var missing: [PostID] = []
        var page = PostPage()
        let ids = posts.keys.sorted().map { PostID(rawValue: $0) }
        _ = store.posts(ids, voter: voter, missing: &missing, into: &page)
        for row in page.rows where row.viewerVote != posts[row.id.rawValue]?.ballots[key] {
            return "\(key) has another ballot on post \(row.id)."
        }
        return nil
    }

    private func difference(
        toMarksOf key: VoterKey,
        _ viewer: VoterID,
        _ store: FeedStore
    ) -> String? {
        let found = store.marks(of: viewer) ?? ViewerMarks()
        let expected = marks[key] ?? MarkModel()
        for post in posts.keys.sorted().compactMap(origin) {
            let (state, wanted) = (found.state(of: post), expected.state(of: post))
            guard state == wanted else {
                return "\(key) has \(state) of post \(post.id), expected \(wanted)."
            }
        }
        return nil
    }
}

/// The marks of one viewer in lists, by the rules of MarkPosts told anew: of the marks of a topic that
/// reach a post, the last one stands.
struct MarkModel: Equatable {
    /// The marks on a single post; the last of them decides how new all of them are.
    private struct OnPost: Equatable {
        var marks: [MarkTopic: Mark] = [:]
        var order = 0
    }

    /// A mark on all posts up to one, of a feed or of all for nil.
    private struct Through: Equatable {
        var mark: Mark
        var feed: FeedID?
        var last: PostOrigin
        var order: Int

        func reaches(_ post: PostOrigin) -> Bool {
            (feed == nil || feed == post.feed) && post.isUpTo(last)
        }
    }

    private var posts: [PostID: OnPost] = [:]
    private var throughs: [Through] = []
    /// How many marks have changed something.
    private var order = 0

    func state(of post: PostOrigin) -> ViewerState {
        ViewerState(isRead: isSet(.reading, post), isDismissed: isSet(.dismissal, post))
    }

    /// Marks a post; nothing where it is as the mark says.
    mutating func mark(_ post: PostOrigin, as mark: Mark) {
        let topic = mark.topic
        guard isSet(topic, post) != mark.sets else { return }
        order += 1
        var onPost = posts[post.id] ?? OnPost()
        // What a newer mark through posts has ended does not come back.
        for other in [MarkTopic.reading, .dismissal]
        where newest(other, reaching: post)?.order ?? 0 > onPost.order {
            onPost.marks[other] = nil
        }
        // What the marks through posts say is not said again.
        let isSaid = newest(topic, reaching: post)?.mark.sets ?? false == mark.sets
        onPost.marks[topic] = isSaid ? nil : mark
        onPost.order = order
        posts[post.id] = onPost
    }

    mutating func mark(through post: PostOrigin, in feed: FeedID?, as mark: Mark) {
        order += 1
        throughs.removeAll {
            $0.feed == feed && $0.mark.topic == mark.topic && $0.last.isUpTo(post)
        }
        throughs.append(Through(mark: mark, feed: feed, last: post, order: order))
    }

    /// How many marks through later posts stand in a list, which has a limit for them.
    func countBeyond(_ post: PostOrigin, in feed: FeedID?, _ topic: MarkTopic) -> Int {
        throughs.count { $0.feed == feed && $0.mark.topic == topic && !$0.last.isUpTo(post) }
    }

    private func isSet(_ topic: MarkTopic, _ post: PostOrigin) -> Bool {
        let through = newest(topic, reaching: post)
        if let onPost = posts[post.id], let mark = onPost.marks[topic],
            onPost.order > through?.order ?? 0
        {
            return mark.sets
        }
        return through?.mark.sets ?? false
    }

    private func newest(_ topic: MarkTopic, reaching post: PostOrigin) -> Through? {
        throughs.last { $0.mark.topic == topic && $0.reaches(post) }
    }
}

extension PostOrigin {
    /// Whether the post was created before another one, or is it.
    fileprivate func isUpTo(_ other: PostOrigin) -> Bool {
        (createTimeMilliseconds, id) <= (other.createTimeMilliseconds, other.id)
    }
}

extension Mark {
    /// Whether the mark says what no post is by itself.
    fileprivate var sets: Bool { self == .read || self == .dismissed }
}

/// What a service remembers of numbered calls, as simple as can be.
final class ChannelTable {
    private var states: [UInt64: ChannelState] = [:]
    private var outcomes: [UInt64: [UInt64: ChannelOutcome]] = [:]

    /// The channels that said Hello, as their client names them.
    var names: Set<UInt32> { Set(states.values.map(\.channel)) }

    /// Puts back what an earlier life knew: as in the service, an outcome of no channel is dropped.
    func restore(_ entry: LogEntry) {
        switch entry {
        case .channel(let state): states[state.number] = state
        case .outcome(let outcome): if states[outcome.channel] != nil { record(outcome) }
        case .evictedChannel(let number):
            states[number] = nil
            outcomes[number] = nil
        default: break
        }
    }

    /// A channel's first Hello, within a transaction; nothing for a later one.
    func open(_ channel: UInt32, _ log: ChangeLog) {
        guard number(of: channel) == nil else { return }
        let number = (states.keys.max() ?? 0) + 1
        let state = ChannelState(number: number, clientHigh: 7, clientLow: 8, channel: channel)
        states[number] = state
        log.append(state)
    }

    func number(of channel: UInt32) -> UInt64? {
        states.values.first { $0.channel == channel }?.number
    }

    func outcome(of call: ClientCall) -> ChannelOutcome? {
        number(of: call.channel).flatMap { outcomes[$0]?[call.sequence] }
    }

    func record(_ outcome: ChannelOutcome) {
        var joined = outcome
        let old = outcomes[outcome.channel]?[outcome.sequence]
        if case .items(let new) = outcome.outcome, case .items(let done) = old?.outcome {
            var mask = new
            for item in 0..<ItemMask.itemCount where done[item] { mask[item] = true }
            joined.outcome = .items(mask)
        }
        outcomes[outcome.channel, default: [:]][outcome.sequence] = joined
    }

    func remembered(_ channel: UInt32) -> [UInt64: Outcome] {
        let outcomes = number(of: channel).flatMap { self.outcomes[$0] } ?? [:]
        let highest = outcomes.keys.max() ?? 0
        return outcomes.filter { $0.key + 256 > highest }.mapValues(\.outcome)
    }
}
