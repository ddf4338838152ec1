import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Testing

@Suite struct MarkTests {
    private static let feed = FeedID(rawValue: 0)
    private static let viewer = VoterID(rawValue: 7)

    private let store = FeedStore(stripeCount: 4) { 1_700_000_000_000 }

    /// Posts with the times 0, 1, 2 …, so that a later id is a later post.
    private func create(_ count: Int) throws -> [PostID] {
        let posts = (0..<count).map { time in
            ImportedPost(content: PostContent(), createTimeMilliseconds: Int64(time))
        }
        let first = try store.importPosts(posts, in: Self.feed).firstID.rawValue
        return (0..<UInt64(count)).map { PostID(rawValue: first + $0) }
    }

    private func unreadCount() -> UInt64? {
        var allowance = RefreshAllowance(keyCount: .max)
        return store.unreadCount(in: Self.feed, by: Self.viewer, allowance: &allowance)
    }

    @Test(arguments: TestEnvironment.seeds(1...40))
    func agreesWithTheModel(seed: UInt64) throws {
        var run = try MarkRun(seed: seed)
        try run.run(300)
    }

    @Test func theModelFindsAWrongMark() throws {
        var run = try MarkRun(seed: 1)
        run.firstMarkStands = true
        #expect(throws: (any Error).self) { try run.run(300) }
    }

    @Test func dismissingAllTakesOneMark() throws {
        let ids = try create(1_000)
        try store.mark(through: ids[999], in: Self.feed, as: .dismissed, by: Self.viewer)
        #expect(store.markUnitCount == RankingLimits.viewerUnitCount + 1)
        #expect(unreadCount() == 0)
        try store.mark(through: ids[999], in: Self.feed, as: .restored, by: Self.viewer)
        #expect(store.markUnitCount == RankingLimits.viewerUnitCount + 1)
        #expect(unreadCount() == 1_000)
    }

    @Test func marksThroughEarlierAndEarlierPostsAreLimited() throws {
        let ids = try create(100)
        for (place, id) in ids.reversed().prefix(RankingLimits.maximumMarkStepCount).enumerated() {
            let mark = place % 2 == 0 ? Mark.read : .unread
            try store.mark(through: id, in: Self.feed, as: mark, by: Self.viewer)
        }
        let unread = unreadCount()
        let limit = RankingError.tooManyMarks(limit: RankingLimits.maximumMarkStepCount)
        #expect(throws: limit) {
            try store.mark(through: ids[0], in: Self.feed, as: .read, by: Self.viewer)
        }
        #expect(unreadCount() == unread)
        // A mark that covers all of them is taken, and makes room.
        try store.mark(through: ids[99], in: Self.feed, as: .read, by: Self.viewer)
        #expect(unreadCount() == 0)
    }

    @Test func readingBackwardsTakesNoFurtherMark() throws {
        let ids = try create(100)
        for id in ids.reversed() {
            try store.mark(through: id, in: Self.feed, as: .read, by: Self.viewer)
        }
        #expect(store.markUnitCount == RankingLimits.viewerUnitCount + 1)
    }

    @Test func aDeviceMarksOnlySoManyPostsOneByOne() throws {
        let limit = RankingLimits.maximumDeviceMarkCount
        let ids = try create(limit + 100)
        try store.mark(Array(ids[..<limit]), as: .read, by: Self.viewer)
        #expect(throws: RankingError.tooManyMarks(limit: limit)) {
            try store.mark([ids[limit]], as: .read, by: Self.viewer)
        }
        #expect(unreadCount() == 100)
        // Marks of posts that are gone make room.
        _ = try store.deletePost(ids[0])
        try store.mark([ids[limit]], as: .read, by: Self.viewer)
        // A mark through a post ends those on single posts, and so makes room.
        _ = try store.deletePost(ids[1])
        try store.mark(through: ids[limit], in: nil, as: .read, by: Self.viewer)
        try store.mark(Array(ids[(limit + 1)...]), as: .read, by: Self.viewer)
        #expect(unreadCount() == 0)
    }

    @Test func aViewerAtTheLimitMarksAllAndTakesMarksBack() throws {
        let limit = RankingLimits.maximumDeviceMarkCount
        let ids = try create(limit + 100)
        try store.mark(Array(ids[..<limit]), as: .read, by: Self.viewer)
        let revision = store.revision
        try store.mark(Array(ids[..<100]), as: .read, by: Self.viewer)
        try store.mark([ids[limit]], as: .unread, by: Self.viewer)
        #expect(store.revision == revision)
        // A call that is refused marks nothing.
        #expect(throws: RankingError.tooManyMarks(limit: limit)) {
            try store.mark([ids[limit], ids[limit]], as: .read, by: Self.viewer)
        }
        #expect(store.revision == revision)
        try store.mark([ids[0]], as: .unread, by: Self.viewer)
        try store.mark([ids[limit], ids[limit]], as: .read, by: Self.viewer)
        #expect(unreadCount() == 100)
        try store.mark(through: ids[limit], in: nil, as: .dismissed, by: Self.viewer)
        #expect(unreadCount() == 99)
    }

    @Test func aRefusedViewerTakesNoRoom() throws {
        let ids = try create(RankingLimits.maximumDeviceMarkCount + 1)
        #expect(throws: RankingError.self) { try store.mark(ids, as: .read, by: Self.viewer) }
        try store.mark(ids, as: .unread, by: Self.viewer)
        #expect(store.markUnitCount == 0)
    }

    /// The count after a mark through a post is not interrupted, so its indexes are there before.
    @Test func theIndexesOfACountAreBuiltBeforeTheMark() throws {
        let ids = try create(1_000)
        var allowance = RefreshAllowance(keyCount: 1)
        func prepare(_ id: PostID?) -> Bool {
            store.prepareUnreadCount(
                in: Self.feed,
                by: Self.viewer,
                markingThrough: id,
                allowance: &allowance
            )
        }
        #expect(prepare(nil))
        #expect(!prepare(ids[500]))
        repeat { allowance.renew() } while !prepare(ids[500])
        try store.mark(through: ids[500], in: Self.feed, as: .read, by: Self.viewer)
        allowance = RefreshAllowance(keyCount: 1)
        let count = store.unreadCount(in: Self.feed, by: Self.viewer, allowance: &allowance)
        #expect(count == 499)
        #expect(allowance.remainingKeyCount == 1)
    }

    @Test func looksAtMarksAreChargedOnceForAllFeeds() throws {
        let ids = try create(1_000)
        try store.mark(Array(ids[..<300]), as: .read, by: Self.viewer)
        var allowance = RefreshAllowance(keyCount: 400)
        let marks = try #require(store.marks(of: Self.viewer))
        #expect(store.unreadCounts(of: store.feeds(), marks, allowance: &allowance) == [700, 0])
        #expect(allowance.remainingKeyCount == 100)
        func count() -> UInt64? {
            store.unreadCount(in: Self.feed, by: Self.viewer, allowance: &allowance)
        }
        #expect(count() == 700 && allowance.remainingKeyCount == -200)
        #expect(count() == nil)
    }

    @Test func marksOfDeletedPostsAreSwept() throws {
        let ids = try create(500)
        let changes = RecordedChanges()
        for number in 0..<20 {
            let viewer = VoterID(rawValue: UInt32(number))
            try store.mark(Array(ids[..<250]), as: .dismissed, by: viewer, sink: changes)
        }
        for id in ids[..<100] { _ = try store.deletePost(id) }
        var sweep = MarkSweep()
        for _ in 0..<200 { store.sweepMarks(&sweep, sink: changes) }
        #expect(store.markUnitCount == 20 * (RankingLimits.viewerUnitCount + 150))
        // The sweep is in the log, too.
        let restored = FeedStore(stripeCount: 1) { 0 }
        try changes.restore(to: restored)
        #expect(restored.marks(of: VoterID(rawValue: 3))?.mayDismiss == true)
    }

    @Test func anUnchangedPostTakesNoRevision() throws {
        let ids = try create(3)
        try store.mark(ids, as: .read, by: Self.viewer)
        let revision = store.revision
        try store.mark(ids, as: .read, by: Self.viewer)
        try store.mark(ids, as: .restored, by: Self.viewer)
        #expect(store.revision == revision)
        try store.mark(ids, as: .unread, by: Self.viewer)
        #expect(store.revision == revision + 3)
        // Copies have to learn that they were taken back.
        #expect(store.markUnitCount == RankingLimits.viewerUnitCount + 3)
    }

    @Test func marksOfAnotherFeedAreNotReached() throws {
        let ids = try create(1)
        let tweets = FeedID(rawValue: 1)
        #expect(throws: RankingError.postNotInList(ids[0])) {
            try store.mark(through: ids[0], in: tweets, as: .read, by: Self.viewer)
        }
    }
}

/// Random marks on a store and on the plainest model: all marks in a list, of which the last that
/// reaches a post stands.
struct MarkRun {
    struct Post {
        var id: PostID
        var feed: FeedID
        var time: Int64

        func isUpTo(_ other: Post) -> Bool { (time, id) <= (other.time, other.id) }
    }

    /// What a viewer has done, in the words of the call.
    struct Action {
        var viewer: VoterID
        var mark: Mark
        var ids: Set<PostID> = []
        var through: Post?
        var feed: FeedID?

        func reaches(_ post: Post) -> Bool {
            if let through { return post.isUpTo(through) && (feed == nil || feed == post.feed) }
            return ids.contains(post.id)
        }
    }

    static let feeds = (0..<3).map { FeedID(rawValue: $0) }

    var random: SeededGenerator
    let store: FeedStore
    let changes = RecordedChanges()
    let viewers = [0, 1, 1 << 29].map { VoterID(rawValue: $0) }
    var posts: [Post] = []
    var actions: [Action] = []
    var page = PostPage()
    /// A fault on purpose: the first mark that reaches a post stands.
    var firstMarkStands = false

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        let count = [1, 4, 16].randomElement(using: &random) ?? 1
        store = FeedStore(stripeCount: count) { 1_700_000_000_000 }
        _ = try store.createFeed(FeedPolicy(name: "third"), sink: changes)
    }

    /// Does so many random things; compares after each tenth.
    mutating func run(_ count: Int) throws {
        for step in 0..<count {
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: try create()
            case 2 where random.oneIn(3): try delete()
            case 3, 4: try markThrough()
            case 5 where random.oneIn(4): sweep()
            default: try markSome()
            }
            if step % 10 == 9 { try compare(store) }
        }
        try compareWithRestored()
    }

    private mutating func create() throws {
        // Few times, so that ids decide too.
        let time = Int64.random(in: 0..<20, using: &random)
        let feed = Self.feeds.randomElement(using: &random) ?? Self.feeds[0]
        let post = ImportedPost(content: PostContent(), createTimeMilliseconds: time)
        let id = try store.importPosts([post], in: feed, sink: changes).firstID
        posts.append(Post(id: id, feed: feed, time: time))
    }

    private mutating func delete() throws {
        guard let index = posts.indices.randomElement(using: &random) else { return }
        _ = try store.deletePost(posts.remove(at: index).id, sink: changes)
    }

    private mutating func sweep() {
        var sweep = MarkSweep()
        for _ in 0..<200 { store.sweepMarks(&sweep, sink: changes) }
    }

    private mutating func markSome() throws {
        let chosen = posts.filter { _ in random.oneIn(4) }
        let mark = Mark.allCases.randomElement(using: &random) ?? .read
        let viewer = viewers.randomElement(using: &random) ?? viewers[0]
        try store.mark(
            chosen.map(\.id) + [PostID(rawValue: 1 << 40)],
            as: mark,
            by: viewer,
            sink: changes
        )
        actions.append(Action(viewer: viewer, mark: mark, ids: Set(chosen.map(\.id))))
    }

    private mutating func markThrough() throws {
        guard let post = posts.randomElement(using: &random) else { return }
        let feed = random.oneIn(3) ? nil : post.feed
        let mark = Mark.allCases.randomElement(using: &random) ?? .read
        let viewer = viewers.randomElement(using: &random) ?? viewers[0]
        let result = Result { () throws(RankingError) in
            try store.mark(through: post.id, in: feed, as: mark, by: viewer, sink: changes)
        }
        if case .failure(.tooManyMarks) = result { return }
        try result.get()
        actions.append(Action(viewer: viewer, mark: mark, through: post, feed: feed))
    }

    func state(of post: Post, for viewer: VoterID) -> ViewerState {
        var state = ViewerState()
        for action in firstMarkStands ? actions.reversed() : actions
        where action.viewer == viewer && action.reaches(post) {
            switch action.mark {
            case .read, .unread: state.isRead = action.mark == .read
            case .dismissed, .restored: state.isDismissed = action.mark == .dismissed
            }
        }
        return state
    }

    private func compare(_ store: FeedStore) throws {
        for viewer in viewers {
            let marks = store.marks(of: viewer) ?? ViewerMarks()
            for post in posts {
                let origin = PostOrigin(
                    id: post.id,
                    feed: post.feed,
                    createTimeMilliseconds: post.time
                )
                let (state, expected) = (marks.state(of: origin), state(of: post, for: viewer))
                if state != expected {
                    throw Difference(description: "\(post): \(state), not \(expected)")
                }
                if state.isDismissed, !marks.mayDismiss {
                    throw Difference(description: "\(viewer) has dismissed posts")
                }
            }
            for feed in Self.feeds + [nil] {
                let expected = posts.count { post in
                    (feed == nil || feed == post.feed) && state(of: post, for: viewer).isUnread
                }
                var allowance = RefreshAllowance(keyCount: .max)
                let count = store.unreadCount(in: feed, by: viewer, allowance: &allowance)
                if count != UInt64(expected) {
                    let text = "\(viewer) in \(String(describing: feed)): \(count ?? 0) unread"
                    throw Difference(description: "\(text), not \(expected)")
                }
            }
        }
    }

    /// A store that gets all changes again has the same marks.
    private func compareWithRestored() throws {
        let restored = FeedStore(stripeCount: 2) { 0 }
        try changes.restore(to: restored)
        try compare(restored)
        guard restored.revision == store.revision else {
            throw Difference(description: "\(restored.revision), not \(store.revision)")
        }
    }
}
