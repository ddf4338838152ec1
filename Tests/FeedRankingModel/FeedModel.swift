package import FeedOrders
package import FeedRanking
import Glibc
package import Synchronization

/// Posts in an array, sorted anew for every read: the store's behaviour in the plainest form.
package struct FeedModel {
    package struct Post: Equatable {
        package var id: UInt64
        package var feed: UInt32
        package var content: PostContent
        /// The Unix time of its creation, in milliseconds.
        package var time: Int64
        /// The Unix time of its last edit, in milliseconds.
        package var updateTime: Int64
        /// All ups, or the ballots that are up.
        package var upvotes: UInt64
        /// All downs, or the ballots that are down.
        package var downvotes: UInt64
        package var revision: UInt64
        package var editRevision: UInt64
        /// The sum by which RISING sorts; nil where it follows from the upvotes and the time.
        package var rising: RisingModel?
        package var ballots: [UInt32: VoteDirection] = [:]

        /// A post without ballots.
        package init(
            id: UInt64,
            feed: UInt32,
            content: PostContent,
            time: Int64,
            updateTime: Int64,
            upvotes: UInt64 = 0,
            downvotes: UInt64 = 0,
            revision: UInt64,
            editRevision: UInt64
        ) {
            self.id = id
            self.feed = feed
            self.content = content
            self.time = time
            self.updateTime = updateTime
            self.upvotes = upvotes
            self.downvotes = downvotes
            self.revision = revision
            self.editRevision = editRevision
        }

        package var score: Int64 { Int64(upvotes) - Int64(downvotes) }

        /// Whether a change that expects this revision is allowed.
        package func admits(_ expected: UInt64, at newest: UInt64) -> Bool {
            expected == 0 || (expected >= editRevision && expected <= newest)
        }

        /// The bytes that order equal scores.
        package var title: [UInt8] { Array(content.title.utf8) }

        package var hotKey: Int64 {
            // In ninths of the seventh decimal the time's part is an integer; only what is left of
            // it is added to the logarithm, so that doubles have room for both.
            let seconds = Int64((Double(time) / 1_000).rounded(.down)) - 1_134_028_003
            let whole = (seconds * 2_000 - 8) / 9
            let rest = Double(seconds * 2_000 - whole * 9) / 9
            let order = log10(Double(max(abs(score), 1)))
            let sign: Double = score > 0 ? 1 : score < 0 ? -1 : 0
            return whole + Int64((sign * order * 1e7 + rest).rounded(.toNearestOrEven))
        }

        /// The lower bound of Wilson's interval, as Reddit writes it.
        package var confidence: Double {
            if upvotes == 0 { return 0 }
            let z = 1.281551565545
            let n = Double(upvotes + downvotes)
            let p = Double(upvotes) / n
            let right = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
            return max(0, min(1, (p + z * z / (2 * n) - right) / (1 + z * z / n)))
        }

        /// The service's own: near ties depend on its last place, where `pow` may differ.
        ///
        /// ControversyRankTests have its values.
        package var controversy: Double {
            ControversyRank.value(
                upvoteCount: UInt64(upvotes),
                downvoteCount: UInt64(downvotes)
            )
        }
    }

    /// A place in an order as the model keeps it: the post as it was when the page was read, or
    /// nil for the end of the list that a page lay beyond.
    package struct Anchor {
        /// The post as it was then; nil for the end of the list.
        package var post: Post?
        package var rank: UInt64

        package init(post: Post?, rank: UInt64) {
            self.post = post
            self.rank = rank
        }
    }

    package var posts: [UInt64: Post] = [:]
    package var revision: UInt64 = 0
    /// The latest time that a write got.
    package var time = Int64.min
    /// The latest time at which a window was read.
    package var windowEnd = Int64.min
    /// The feeds whose votes set ballots.
    package var ballotFeeds: Set<UInt32> = []
    /// The ballot feeds in which only users vote.
    package var userFeeds: Set<UInt32> = []
    /// A fault on purpose: equal scores in the order of their ids alone.
    package var ignoresTitles = false
    /// A fault on purpose: imported posts as new as their ids.
    package var ignoresImportedTimes = false

    package init() {}

    /// The time that a write gets at a time of the clock: it stands still where the clock goes back by
    /// up to five minutes.
    package mutating func time(at clock: Int64) -> Int64 {
        if clock > time || time - clock > 300_000 { time = clock }
        return time
    }

    /// Gives posts with these ids whose times are after a bound an earlier time, if there is one.
    ///
    /// - Returns: What the posts were, at most so many, and the last id that was looked at.
    package mutating func correctTimes(
        after bound: Int64,
        to time: Int64?,
        ids: Range<UInt64>,
        postCount: Int
    ) -> (found: [Post], lastID: UInt64) {
        var found: [Post] = []
        for id in ids {
            if found.count == postCount { return (found, id - 1) }
            guard var post = posts[id], post.time > bound || post.updateTime > bound else {
                continue
            }
            found.append(post)
            guard let time else { continue }
            if post.time > bound { post.setTime(time) }
            if post.updateTime > bound { post.updateTime = time }
            revision += 1
            post.revision = revision
            post.editRevision = revision
            posts[id] = post
        }
        return (found, ids.upperBound - 1)
    }

    /// The time at which a window ends that is read at a time of the clock; it is held as the times of
    /// writes are.
    package mutating func windowTime(at clock: Int64) -> Int64 {
        if clock > windowEnd || windowEnd - clock > 300_000 { windowEnd = clock }
        return windowEnd
    }

    /// Whether one post comes before another in an order.
    package func precedes(_ left: Post, _ right: Post, _ order: Order) -> Bool {
        switch order {
        case .top:
            if left.score != right.score { return left.score > right.score }
            if !ignoresTitles, left.title != right.title {
                return left.title.lexicographicallyPrecedes(right.title)
            }
            return left.id < right.id
        case .new:
            return left.time != right.time ? left.time > right.time : left.id > right.id
        case .old:
            return left.time != right.time ? left.time < right.time : left.id < right.id
        case .hot:
            return left.hotKey != right.hotKey ? left.hotKey > right.hotKey : left.id < right.id
        case .best:
            let (leftKey, rightKey) = (left.confidence, right.confidence)
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        case .controversial:
            let (leftKey, rightKey) = (left.controversy, right.controversy)
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        case .rising:
            let (leftKey, rightKey) = (left.risingNow, right.risingNow)
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        case .discussed:
            let (leftKey, rightKey) = (left.content.commentCount, right.content.commentCount)
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        }
    }

    /// A feed's posts, or all for nil, in order; of a window, those that are younger than it.
    package func list(
        _ feed: UInt32?,
        _ order: Order,
        _ window: Window? = nil,
        endingAt time: Int64 = 0
    ) -> [Post] {
        posts.values.filter { post in
            let isYoung = window.map { time - post.time < $0.milliseconds } ?? true
            return isYoung && (feed == nil || post.feed == feed)
        }.sorted { precedes($0, $1, order) }
    }

    /// Casts a vote at a time; returns why it is refused, or nil.
    package mutating func vote(
        _ id: UInt64,
        _ direction: VoteDirection,
        voter: UInt32?,
        at time: Int64
    ) -> RankingError? {
        guard var post = posts[id] else { return .postNotFound(PostID(rawValue: id)) }
        if ballotFeeds.contains(post.feed) {
            let new = direction == .clear ? nil : direction
            // Users have the numbers from 2^29 on.
            if userFeeds.contains(post.feed), (voter ?? 0) >> 29 == 0 { return .userRequired }
            guard let voter else { return new == nil ? nil : .voterRequired }
            let old = post.ballots[voter]
            if old == new { return nil }
            post.ballots[voter] = new
            if old == .up || new == .up { post.rising = post.risingNow }
            if new == .up { post.rising?.add(time: time) }
            if old == .up { post.upvotes -= 1 }
            if old == .down { post.downvotes -= 1 }
            if new == .up { post.upvotes += 1 }
            if new == .down { post.downvotes += 1 }
        } else {
            switch direction {
            case .up:
                post.rising = post.risingNow
                post.rising?.add(time: time)
                post.upvotes += 1
            case .down: post.downvotes += 1
            case .clear: return .clearOnTally
            }
        }
        revision += 1
        post.revision = revision
        posts[id] = post
        return nil
    }
}

extension FeedModel.Post {
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
    package func sortedPosts() -> [PostState] {
        var posts: [PostState] = []
        forEachPost { posts.append($0) }
        return posts.sorted { $0.counts.id < $1.counts.id }
    }

    package func ballots(of voter: VoterID, on posts: [PostState]) throws -> [VoteDirection?] {
        var page = PostPage()
        for post in posts { try self.post(post.counts.id, voter: voter, into: &page) }
        return page.rows.map(\.viewerVote)
    }

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

/// A difference between a store and the model that a run has found.
package struct Difference: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
}

/// A clock that a test sets: it stands still, steps and jumps back.
package final class TestClock: Sendable {
    /// The Unix time that the clock shows.
    package let milliseconds = Atomic<Int64>(1_700_000_000_000)

    /// A clock that stands still.
    package init() {}
}
