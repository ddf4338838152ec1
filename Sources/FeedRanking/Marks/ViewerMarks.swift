/// The marks of one viewer: on single posts, and through posts of a feed or of all feeds.
///
/// Of the marks of a topic that reach a post, the newest stands. A mark on a single post is kept as
/// long as no newer mark through a post reaches it. A copy is cheap: it shares the memory until one
/// of the two changes.
package struct ViewerMarks: Sendable {
    /// The marks on a single post, as of a revision.
    struct OnPost: Sendable {
        var marks: MarkSet
        var revision: UInt64
    }

    /// The marks through posts of one list.
    struct Steps: Sendable {
        var reading = MarkSteps()
        var dismissal = MarkSteps()

        subscript(topic: MarkTopic) -> MarkSteps {
            get { topic == .reading ? reading : dismissal }
            set {
                switch topic {
                case .reading: reading = newValue
                case .dismissal: dismissal = newValue
                }
            }
        }
    }

    /// A mark on a single post that was taken back, so that none is left there.
    struct Lifted: Sendable {
        var post: PostID
        var revision: UInt64
    }

    private(set) var posts: [PostID: OnPost] = [:]
    /// The newest of those that were taken back, in their order: readers that keep a copy have to learn them.
    private(set) var lifted: [Lifted] = []
    /// Every mark that was taken back later is known.
    private(set) var liftedKnownSince: UInt64 = 0
    /// The revision of the newest change.
    package private(set) var newestRevision: UInt64 = 0
    /// The marks through posts, by feed; nil is all feeds.
    private(set) var steps: [FeedID?: Steps] = [:]
    /// The newest revision of a restored mark on a single post, whose feed is not known.
    private var restoredRevision: UInt64 = 0

    /// How many marks through posts were made.
    private var throughCount: UInt64 = 0
    /// How many posts were deleted and marks through posts made by the last sweep for want of room; nil
    /// before the first.
    private var sweptCount: UInt64?

    /// Whether a post may be dismissed; false means that none is.
    package private(set) var mayDismiss = false

    package init() {}

    /// What the marks make of a post; O(1).
    package func state(of post: PostOrigin) -> ViewerState {
        let onPost = posts[post.id]
        guard onPost != nil || !steps.isEmpty else { return ViewerState() }
        let (inFeed, inAll) = (steps[post.feed], steps[nil])
        func stands(_ topic: MarkTopic) -> Bool {
            let step = Self.newer(inFeed, inAll, topic, covering: post)
            if let onPost, let mark = onPost.marks.mark(of: topic),
                onPost.revision > step?.revision ?? 0
            {
                return mark.isSetting
            }
            return step?.mark.isSetting ?? false
        }
        return ViewerState(isRead: stands(.reading), isDismissed: stands(.dismissal))
    }

    /// What the marks through posts make of a post, without those on single posts; O(1).
    func stateThroughPosts(of post: PostOrigin) -> ViewerState {
        ViewerState(
            isRead: newestStep(.reading, covering: post)?.mark.isSetting ?? false,
            isDismissed: newestStep(.dismissal, covering: post)?.mark.isSetting ?? false
        )
    }

    func hasSteps(reaching feed: FeedID) -> Bool { steps[feed] != nil || steps[nil] != nil }

    /// The marks through posts that may reach posts of a feed.
    func steps(reaching feed: FeedID) -> [MarkThrough] {
        [steps[feed], steps[nil]].flatMap { steps in
            (steps?.reading.standing ?? []) + (steps?.dismissal.standing ?? [])
        }
    }

    private func newestStep(_ topic: MarkTopic, covering post: PostOrigin) -> MarkThrough? {
        guard !steps.isEmpty else { return nil }
        return Self.newer(steps[post.feed], steps[nil], topic, covering: post)
    }

    private static func newer(
        _ inFeed: Steps?,
        _ inAll: Steps?,
        _ topic: MarkTopic,
        covering post: PostOrigin
    ) -> MarkThrough? {
        let inFeed = inFeed?[topic].newest(covering: post)
        let inAll = inAll?[topic].newest(covering: post)
        return (inFeed?.revision ?? 0) > (inAll?.revision ?? 0) ? inFeed : inAll
    }

    // Marking.

    /// How many of the posts a mark would give marks on the post itself that have none yet.
    func addedCount(_ posts: [PostOrigin], as mark: Mark) -> Int {
        var added: Set<PostID> = []
        for post in posts
        where self.posts[post.id] == nil && state(of: post)[mark.topic] != mark.isSetting {
            added.insert(post.id)
        }
        return added.count
    }

    /// How many marks through posts a further one adds: none where it ends another one.
    func addedCount(through post: PostOrigin, in feed: FeedID?, as mark: Mark) -> Int {
        guard let below = steps[feed]?[mark.topic] else { return 1 }
        return below.place(through: post) < below.standing.count ? 0 : 1
    }

    /// Marks a post; returns the change, or nil where the post is as the mark says.
    mutating func mark(
        _ post: PostOrigin,
        as mark: Mark,
        by viewer: VoterID,
        takeRevision: () -> UInt64
    ) -> PostMarks? {
        let topic = mark.topic
        guard state(of: post)[topic] != mark.isSetting else { return nil }
        let step = newestStep(topic, covering: post)
        let isNeeded = (step?.mark.isSetting ?? false) != mark.isSetting
        let set = standingMarks(on: post).replacing(topic, with: isNeeded ? mark : nil)
        let revision = takeRevision()
        posts[post.id] = set.isEmpty ? nil : OnPost(marks: set, revision: revision)
        if set.isEmpty { lift(post.id, revision) }
        newestRevision = revision
        note(revision, topic, in: post.feed)
        note(revision, topic, in: nil)
        if mark == .dismissed { mayDismiss = true }
        return PostMarks(viewer: viewer, post: post.id, marks: set, revision: revision)
    }

    /// Notes that no mark is left on a post, and forgets the oldest such note above the limit.
    private mutating func lift(_ post: PostID, _ revision: UInt64) {
        lifted.append(Lifted(post: post, revision: revision))
        guard lifted.count > RankingLimits.maximumLiftedMarkCount else { return }
        liftedKnownSince = lifted.removeFirst().revision
    }

    /// The marks on a single post that no mark through a post has ended.
    private func standingMarks(on post: PostOrigin) -> MarkSet {
        guard let onPost = posts[post.id] else { return [] }
        var set = onPost.marks
        for topic in [MarkTopic.reading, .dismissal] {
            let step = newestStep(topic, covering: post)
            if step?.revision ?? 0 > onPost.revision { set = set.replacing(topic, with: nil) }
        }
        return set
    }

    private mutating func note(_ revision: UInt64, _ topic: MarkTopic, in feed: FeedID?) {
        // A list without steps needs no note: its first step will be newer.
        steps[feed]?[topic].newestOnPost = revision
    }

    enum ThroughOutcome {
        /// Nothing changes: no newer mark contradicts one that reaches as far.
        case unchanged
        case changed(MarkThrough)
        /// The list has too many marks through posts, each through an earlier post than the last.
        case tooMany
    }

    /// Marks every post of a list that was created up to a post; O(1).
    mutating func mark(
        through post: PostOrigin,
        in feed: FeedID?,
        as mark: Mark,
        by viewer: VoterID,
        takeRevision: () -> UInt64
    ) -> ThroughOutcome {
        let topic = mark.topic
        let below = steps[feed]?[topic] ?? MarkSteps()
        if let step = below.newest(covering: post), step.mark == mark,
            step.revision == below.newestRevision,
            step.revision > newestContradiction(topic, of: below, in: feed)
        {
            return .unchanged
        }
        let place = below.place(through: post)
        guard place < RankingLimits.maximumMarkStepCount else { return .tooMany }
        let step = MarkThrough(
            viewer: viewer,
            feed: feed,
            mark: mark,
            createTimeMilliseconds: post.createTimeMilliseconds,
            post: post.id,
            place: UInt8(place),
            revision: takeRevision()
        )
        steps[feed, default: Steps()][topic].push(step)
        newestRevision = step.revision
        throughCount += 1
        if mark == .dismissed { mayDismiss = true }
        return .changed(step)
    }

    /// The newest revision of a mark that may contradict a step of a list.
    private func newestContradiction(
        _ topic: MarkTopic,
        of below: MarkSteps,
        in feed: FeedID?
    ) -> UInt64 {
        var newest = max(below.newestOnPost, restoredRevision)
        if feed != nil {
            newest = max(newest, steps[nil]?[topic].newestRevision ?? 0)
        } else {
            for (other, steps) in steps where other != nil {
                newest = max(newest, steps[topic].newestRevision)
            }
        }
        return newest
    }

    /// Whether marks may say nothing any more since the last sweep for want of room, by the number of
    /// posts that were ever deleted; notes the sweep.
    mutating func beginSweep(deletedCount: UInt64) -> Bool {
        let count = deletedCount &+ throughCount
        defer { sweptCount = count }
        return sweptCount != count
    }

    /// Forgets the marks on a single post, which is gone or is reached by newer marks.
    ///
    /// A copy may have marks on it that were taken back before, and learns what stands.
    mutating func forget(_ post: PostID, isGone: Bool, at revision: UInt64) {
        posts[post] = nil
        guard !isGone else { return }
        lift(post, revision)
        newestRevision = revision
    }

    /// Whether the marks on a single post say nothing that the marks through posts do not say.
    func isSpent(_ post: PostOrigin) -> Bool { standingMarks(on: post).isEmpty }

    // Recovery.

    /// Puts marks on a post back, unless newer ones are there.
    ///
    /// An empty set that is kept stays until the next sweep, so that no older marks come back.
    mutating func restore(_ marks: PostMarks, isGone: Bool, keepsEmpty: Bool) {
        guard marks.revision > posts[marks.post]?.revision ?? 0 else { return }
        let isKept = keepsEmpty || !marks.marks.isEmpty
        posts[marks.post] = isKept ? OnPost(marks: marks.marks, revision: marks.revision) : nil
        if marks.marks.isEmpty, !isGone { lift(marks.post, marks.revision) }
        newestRevision = max(newestRevision, marks.revision)
        restoredRevision = max(restoredRevision, marks.revision)
        if marks.marks.contains(.dismissed) { mayDismiss = true }
    }

    mutating func restore(_ step: MarkThrough) {
        steps[step.feed, default: Steps()][step.mark.topic].restore(step)
        newestRevision = max(newestRevision, step.revision)
        if step.mark == .dismissed { mayDismiss = true }
    }

    /// The marks, those that were taken back and the steps: what the limits count.
    var count: Int {
        steps.values.reduce(posts.count + lifted.count) {
            $0 + $1.reading.standing.count + $1.dismissal.standing.count
        }
    }
}

/// The marks through posts of one topic and one list: each reaches less far than the one below it.
///
/// A mark through a post ends all marks through that post or an earlier one, because it is newer
/// and covers all that they cover. So posts fall from step to step, and revisions rise. A restored
/// step may be older than the one below it: it has ended, and so have those above it.
struct MarkSteps: Sendable {
    /// The steps by place, with places that are yet to be restored.
    private var places: [MarkThrough?] = []
    /// The revision of the newest mark of the topic on a single post of the list, while there are
    /// steps; 0 is none.
    var newestOnPost: UInt64 = 0

    /// The steps that stand, from the one that reaches farthest.
    var standing: [MarkThrough] {
        var steps: [MarkThrough] = []
        for step in places {
            guard let step, step.revision > steps.last?.revision ?? 0 else { break }
            steps.append(step)
        }
        return steps
    }

    /// The revision of the newest step; 0 without steps.
    var newestRevision: UInt64 { standing.last?.revision ?? 0 }

    /// The newest step that covers a post; O(steps), of which there are few.
    func newest(covering post: PostOrigin) -> MarkThrough? {
        var newest: MarkThrough?
        for step in places {
            guard let step, step.covers(post), step.revision > newest?.revision ?? 0 else { break }
            newest = step
        }
        return newest
    }

    func place(through post: PostOrigin) -> Int { standing.prefix { $0.reachesBeyond(post) }.count }

    /// Puts a step to its place, and ends those above it.
    mutating func push(_ step: MarkThrough) {
        places.removeLast(max(places.count - Int(step.place), 0))
        places.append(step)
    }

    /// Puts a step of an earlier run to its place, unless a newer one is there.
    mutating func restore(_ step: MarkThrough) {
        let place = Int(step.place)
        while places.count <= place { places.append(nil) }
        if step.revision > places[place]?.revision ?? 0 { places[place] = step }
    }
}
