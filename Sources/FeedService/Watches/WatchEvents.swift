internal import FeedCalls
internal import FeedProto
internal import FeedRanking

/// Builds the events of a loop's watches.
struct WatchEvents: ~Copyable {
    /// The end of an attempt to build an event that was due.
    enum EventProgress {
        /// It is encoded, or there was nothing to say.
        case done
        /// Its list needs more work than one loop iteration allows: ask again in a later one.
        case again
        /// The budget has no room for it: ask again later.
        case noRoom
        case failed(Status)
    }

    private let environment: CallEnvironment
    /// The bytes of texts in one event, which leave room for all else that it has.
    private let textByteLimit: Int
    /// Encodes the events that several watches get.
    private var shared: Answers
    /// Those that are encoded.
    private var cache = EventCache()
    /// The posts of the event that is being built.
    private var page = PostPage()
    /// The numbers of single posts that are watched.
    private var numbers: [PostNumbers?] = []
    /// The posts that were looked at in this portion, which ends at the limit; an event takes one at least.
    private var workCount = 0

    init(_ environment: CallEnvironment) {
        self.environment = environment
        shared = Answers(environment)
        let limits = environment.context.limits
        let postCount = max(limits.calls.maximumWatchPostCount, limits.calls.maximumWatchTopCount)
        let postByteCount =
            ServiceLimits.postNumbersByteCount + limits.calls.maximumFeedNameByteCount
        let otherByteCount =
            postCount * (postByteCount + 2 * Self.idByteCount) + Self.frameByteCount
        textByteLimit = max(1, limits.maximumFrameByteCount - otherByteCount)
    }

    /// The posts of a portion: an eighth of a millisecond's worth.
    static let portionWorkCount = 1_024
    /// A read of a list takes as long as a look at so many posts.
    private static let listWorkCount = 400
    /// An id with its tag.
    private static let idByteCount = 11
    /// The frame's own fields.
    private static let frameByteCount = 64

    /// Encodes the event of a watch, if there is anything to say.
    mutating func append(
        _ watch: inout Watch,
        in tick: UInt64,
        to answers: inout Answers
    ) -> EventProgress {
        workCount += 1
        do throws(FrameError) {
            switch watch.subject {
            case .list(let list, let topCount):
                switch list.read(environment.store, in: tick, showing: watch.leastRevision) {
                case .current: break
                case .read: workCount += max(Self.listWorkCount, list.first.lookCount)
                case .again:
                    workCount += max(Self.listWorkCount, list.first.lookCount)
                    return .again
                }
                return try append(list, topCount: topCount, to: &watch, in: tick, &answers)
                    ? .done : .noRoom
            case .posts(let posts):
                return try append(posts, &watch, &answers) ? .done : .noRoom
            }
        } catch {
            return .failed(.watchDoesNotFit(error))
        }
    }

    mutating func beginPortion() { workCount = 0 }

    /// Whether the other events wait for the next loop iteration.
    var hasWorkedEnough: Bool { workCount >= Self.portionWorkCount }

    /// Forgets the events that several watches got.
    mutating func removeShared() { cache.removeAll() }

    private mutating func append(
        _ list: WatchedList,
        topCount: Int,
        to watch: inout Watch,
        in tick: UInt64,
        _ answers: inout Answers
    ) throws(FrameError) -> Bool {
        var before: KnownPosts?
        var isResumed = false
        switch watch.known {
        case .nothing: break
        case .upTo: isResumed = true
        case .posts(let known):
            if known === list.known { return true }
            before = known
        }
        let view = watch.viewer.view(in: environment.store, keepsBallots: list.keepsBallots)
        // What a client has resumed from, and its own ballots, are nobody else's.
        let transition =
            isResumed || view.isOwn
            ? nil
            : EventCache.Transition(
                before: before.map(ObjectIdentifier.init),
                after: ObjectIdentifier(list.known),
                topCount: topCount,
                showsViewer: view.isShown
            )
        let event: EventCache.Event
        if let transition, let cached = cache.event(transition, in: tick) {
            event = cached
        } else {
            event = try self.event(list, topCount: topCount, since: watch.known, view)
            if let transition { cache.keep(event, transition) }
        }
        guard try append(event.bytes, id: watch.id, &answers) else { return false }
        watch.known = .posts(event.known)
        return true
    }

    /// Encodes an event of a list, without an id.
    private mutating func event(
        _ list: WatchedList,
        topCount: Int,
        since known: Watch.Known,
        _ view: WatchViewer.View
    ) throws(FrameError) -> EventCache.Event {
        let first = list.first.posts.prefix(topCount)
        var before: KnownPosts?
        let difference: WatchDifference
        switch known {
        case .nothing: difference = WatchDifference(from: nil, to: first)
        case .upTo(let revision): difference = WatchDifference(from: revision, to: first)
        case .posts(let known):
            before = known
            difference = WatchDifference(
                from: known.entries.prefix(topCount),
                to: first,
                createdCount: list.known.createdCount - known.createdCount
            )
        }
        if before != nil, difference.isEmpty {
            return EventCache.Event(bytes: [], known: list.known, before: before)
        }
        let (bytes, unsent) = try encode(difference, view, revision: list.first.revision)
        var after = list.known
        if !unsent.isEmpty {
            let entries = list.known.entries.map { entry in
                KnownPosts.Entry(
                    id: entry.id,
                    revision: unsent.contains(entry.id) ? 0 : entry.revision
                )
            }
            after = KnownPosts(entries, createdCount: list.known.createdCount)
        }
        return EventCache.Event(bytes: bytes, known: after, before: before)
    }

    private mutating func append(
        _ posts: WatchedPosts,
        _ watch: inout Watch,
        _ answers: inout Answers
    ) throws(FrameError) -> Bool {
        let store = environment.store
        let revision = store.revision
        if posts.lookRevision == revision { return true }
        workCount += posts.ids.count
        store.readNumbers(of: posts.ids, into: &numbers)
        var isReset = false
        if posts.lookRevision == nil, case .nothing = watch.known { isReset = true }
        let difference = WatchDifference(from: posts, to: numbers, isReset: isReset)
        guard posts.lookRevision == nil || !difference.isEmpty else {
            posts.lookRevision = revision
            return true
        }
        let view = watch.viewer.view(in: store, keepsBallots: true)
        let (bytes, unsent) = try encode(difference, view, revision: revision)
        guard try append(bytes, id: watch.id, &answers) else { return false }
        for (place, id) in posts.ids.enumerated() where !unsent.contains(id) {
            posts.revisions[place] = numbers[place]?.revision ?? WatchedPosts.goneRevision
        }
        posts.lookRevision = unsent.isEmpty ? revision : 0
        return true
    }

    /// Appends an event behind an id; false where the budget has no room for it.
    private func append(
        _ bytes: [UInt8],
        id: UInt64,
        _ answers: inout Answers
    ) throws(FrameError) -> Bool {
        guard !bytes.isEmpty else { return true }
        guard answers.room.reserve(bytes.count + Self.frameByteCount) else { return false }
        try answers.encoder.append(behindID: bytes, id: id)
        return true
    }

    /// Encodes an event without its id; returns the posts that have no room in it, too.
    private mutating func encode(
        _ difference: WatchDifference,
        _ view: WatchViewer.View,
        revision: UInt64
    ) throws(FrameError) -> (bytes: [UInt8], unsent: [PostID]) {
        workCount += difference.wholePosts.count + difference.numbers.count
        let unsent = collectPosts(of: difference, view)
        let fields = shared.fields
        let texts = page.texts
        try shared.encoder.append(
            event: difference.event,
            changed: fields.span,
            texts: texts.span,
            id: 0,
            revision: revision
        )
        return (shared.encoder.takeBytesBehindID(), unsent)
    }

    /// Collects the posts of an event as the encoder takes them; returns those that have no room.
    private mutating func collectPosts(
        of difference: WatchDifference,
        _ view: WatchViewer.View
    ) -> [PostID] {
        page.removeAll()
        var unsent: [PostID] = []
        read(difference.wholePosts, view, &unsent)
        let wholeCount = page.rows.count
        if view.isOwn {
            // The ballots and marks are the viewer's own, so the rows are read for them.
            read(difference.numbers.map(\.id), view, &unsent)
            page.apply(view.marks)
        }
        shared.collectFields(of: &page, viewer: view.isShown)
        for place in wholeCount..<shared.fields.count {
            shared.fields[place] = shared.fields[place].onlyNumbers
        }
        if !view.isOwn {
            for numbers in difference.numbers {
                shared.fields.append(PostFields(numbers, showsViewer: view.isShown))
            }
        }
        return unsent
    }

    private mutating func read(
        _ ids: [PostID],
        _ view: WatchViewer.View,
        _ unsent: inout [PostID]
    ) {
        guard !ids.isEmpty else { return }
        // Posts that were deleted since are unsent: the next event says so.
        let examinedCount = environment.store.posts(
            ids,
            voter: view.voter,
            byteLimit: textByteLimit,
            missing: &unsent,
            into: &page
        )
        unsent += ids[examinedCount...]
    }
}

extension PostFields {
    /// A post of which only the numbers are sent: it has no feed.
    fileprivate init(_ numbers: PostNumbers, showsViewer: Bool) {
        self.init(id: numbers.id)
        score = numbers.score
        upvoteCount = numbers.upvoteCount
        downvoteCount = numbers.downvoteCount
        revision = numbers.revision
        if showsViewer { viewer = Viewer() }
    }

    /// The same post without all that votes do not change.
    fileprivate var onlyNumbers: PostFields {
        var fields = PostFields(id: id)
        fields.score = score
        fields.upvoteCount = upvoteCount
        fields.downvoteCount = downvoteCount
        fields.revision = revision
        fields.viewer = viewer
        return fields
    }
}

/// What an event has to say: the difference between what a client knows and what is.
private struct WatchDifference {
    /// The posts whose texts the client does not know.
    var wholePosts: [PostID] = []
    /// The posts of which it knows all but the newest numbers.
    var numbers: [PostNumbers] = []
    /// The event beside its posts.
    var event = WatchEventFields()

    var isEmpty: Bool {
        wholePosts.isEmpty && numbers.isEmpty && event == WatchEventFields()
    }

    /// The difference for a client that knows nothing, or everything up to a revision, of a list.
    ///
    /// A post that came into the list since may have changed before the revision. The client does not
    /// get it here, and finds its id in the ranking.
    init(from revision: UInt64?, to first: ArraySlice<PostNumbers>) {
        event.isReset = revision == nil
        event.ranking = first.map(\.id)
        for post in first where post.revision > revision ?? 0 { wholePosts.append(post.id) }
    }

    /// The difference for a client that knows some first posts of a list; O(posts).
    init(
        from known: ArraySlice<KnownPosts.Entry>,
        to first: ArraySlice<PostNumbers>,
        createdCount: UInt64
    ) {
        let isInOrder =
            known.count == first.count && zip(known, first).allSatisfy { $0.id == $1.id }
        if isInOrder {
            for (entry, post) in zip(known, first) { compare(entry.revision, post) }
        } else {
            var revisions: [PostID: UInt64] = [:]
            for entry in known { revisions[entry.id] = entry.revision }
            for post in first { compare(revisions.removeValue(forKey: post.id) ?? 0, post) }
            event.ranking = first.map(\.id)
            event.removedIDs = known.map(\.id).filter { revisions[$0] != nil }
        }
        event.newPostCount = UInt32(clamping: createdCount)
    }

    /// The difference for a client that watches single posts.
    ///
    /// A number is nil where the post is gone. Where it is a reset, the client forgets what it knew before.
    init(from known: WatchedPosts, to numbers: [PostNumbers?], isReset: Bool) {
        event.isReset = isReset
        for (place, id) in known.ids.enumerated() {
            let revision = known.revisions[place]
            if let post = numbers[place] {
                compare(revision, post)
            } else if revision != WatchedPosts.goneRevision {
                event.removedIDs.append(id)
            }
        }
    }

    private mutating func compare(_ revision: UInt64, _ post: PostNumbers) {
        if post.editRevision > revision {
            wholePosts.append(post.id)
        } else if post.revision > revision {
            numbers.append(post)
        }
    }
}

/// The events of a tick that many watches get alike, encoded once.
private struct EventCache {
    /// What an event follows from.
    struct Transition: Hashable {
        /// What the clients know; nil is nothing.
        let before: ObjectIdentifier?
        /// What they know afterwards.
        let after: ObjectIdentifier
        /// How many posts they watch.
        let topCount: Int
        /// Whether they have an identity, without ballots or marks.
        let showsViewer: Bool
    }

    /// An event without its id.
    struct Event {
        /// The bytes of its frame behind the id; empty where there is nothing to say.
        let bytes: [UInt8]
        /// What a client knows that has been sent it.
        let known: KnownPosts
        /// What it knew before: kept, so that no other value gets the same identity.
        let before: KnownPosts?
    }

    /// The bytes that are kept: some hundred events of twenty posts.
    private static let byteLimit = 4 << 20

    private var events: [Transition: Event] = [:]
    private var byteCount = 0
    private var tick: UInt64 = 0

    /// The event of a transition in this tick; nil where it is not encoded yet.
    mutating func event(_ transition: Transition, in tick: UInt64) -> Event? {
        if tick != self.tick { removeAll() }
        self.tick = tick
        return events[transition]
    }

    /// Keeps an event until the end of the tick.
    mutating func keep(_ event: Event, _ transition: Transition) {
        if byteCount + event.bytes.count > Self.byteLimit { removeAll() }
        byteCount += event.bytes.count
        events[transition] = event
    }

    mutating func removeAll() {
        guard !events.isEmpty else { return }
        events.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
