import FeedRanking
import FeedRankingModel
import FeedTestSupport

/// Random marks on a store and on the plainest model: all marks in a list, of which the last that
/// reaches a post stands.
struct MarkRun {
    /// A post as marks see it.
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
            if let through {
                return post.isUpTo(through) && (feed == nil || feed == post.feed)
            }
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

    /// What the model says of a post.
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
