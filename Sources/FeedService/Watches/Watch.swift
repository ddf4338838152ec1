internal import FeedCalls
internal import FeedConcurrency
internal import FeedRanking

/// A watch of a connection: what its client has been sent, and when the next event is due.
struct Watch {
    enum Subject {
        /// The first posts of a list.
        case list(WatchedList, topCount: Int)
        case posts(WatchedPosts)
    }

    /// What the client knows of the list.
    enum Known {
        /// Nothing: the next event is the first, and has everything.
        case nothing
        /// Everything up to a revision, which an earlier watch has shown.
        case upTo(UInt64)
        /// What it has been sent.
        case posts(KnownPosts)
    }

    /// Whose rights the watch depends on.
    enum Owner: Equatable {
        /// Nobody's: everyone may watch.
        case everyone
        /// The user of the connection's session.
        case user(UInt64)
        /// A service, which acts for a user.
        case service(UInt64)
    }

    /// The id of the frame that began the watch, which all of its events have.
    let id: UInt64
    let subject: Subject
    /// The least time between two events.
    let interval: Duration
    let owner: Owner
    /// Whose share of all watches it is in.
    let peer: ClientIdentity
    /// Whether that has no share.
    let mayHaveAll: Bool
    var viewer: WatchViewer
    /// The revision that the first event must show at least.
    let leastRevision: UInt64
    /// What the client knows; of single posts `subject` has the rest.
    var known: Known
    var due: MonotonicInstant

    /// The least time from an event to the next: a filter that looks at many posts is asked less often.
    var pause: Duration {
        guard case .list(let list, _) = subject else { return interval }
        return interval * max(1, list.first.lookCount / WatchEvents.portionWorkCount)
    }
}

struct WatchSet {
    /// After how long a connection is looked at again that has not taken its last events, or that the
    /// budget has no room for.
    static let retryInterval = Duration.milliseconds(50)

    var watches: [Watch] = []
    /// The tick in which the connection's loop serves them next; nil where it does so soon, or never.
    var servedTick: UInt64?
    /// Whether the connection waits for the loop to serve it.
    var isReady = false
    /// The commit batch that the last events wait for: until it is durable, none are built.
    var pendingBatch: UInt64 = 0

    var isEmpty: Bool { watches.isEmpty }

    /// When the next event may be sent; nil where there are no watches.
    var due: MonotonicInstant? { watches.lazy.map(\.due).min() }
}

/// The user or the device whose ballots and marks the events of a watch show.
struct WatchViewer {
    /// The identity; nil where the caller has none, and posts are shown without a viewer.
    let key: VoterKey?
    /// The number of the identity in the ranking; nil before its first ballot or mark.
    private var voter: VoterID?

    /// The viewer of this identity.
    init(_ key: VoterKey?) { self.key = key }

    /// What an event shows of a viewer.
    struct View {
        /// Whether posts show a viewer; one without ballots and marks sees what all such viewers see.
        var isShown = false
        /// The viewer's number, whose ballots and marks nobody else sees.
        var voter: VoterID?
        var marks: ViewerMarks?

        var isOwn: Bool { voter != nil }
    }

    /// What an event shows of the viewer now.
    ///
    /// It is the viewer's own only where one of the posts may have ballots or marks.
    mutating func view(in store: FeedStore, keepsBallots: Bool) -> View {
        guard let key else { return View() }
        if voter == nil { voter = store.voter(ifKnown: key) }
        guard let voter else { return View(isShown: true) }
        let marks = store.marks(of: voter)
        guard marks != nil || keepsBallots else { return View(isShown: true) }
        return View(isShown: true, voter: voter, marks: marks)
    }
}

/// A list that connections of a loop watch, as it was when one of them was last served.
///
/// The list is read at most once a tick, for all of its watches, and not at all where nothing has
/// changed since.
final class WatchedList {
    let id: WatchedListID
    let keepsBallots: Bool
    /// How many watches there are.
    var watchCount = 0
    /// The greatest number of posts that one of them has asked for.
    var topCount = 0
    private(set) var first = FirstPosts()
    /// What a client knows that has been sent all of them.
    private(set) var known = KnownPosts([], createdCount: 0)

    /// The tick of the last read; nil before the first.
    private var readTick: UInt64?
    /// The number of posts that were read.
    private var readCount = 0
    /// The allowance of the next try of a read.
    private var allowance = RefreshAllowance()

    init(_ id: WatchedListID, keepsBallots: Bool) {
        self.id = id
        self.keepsBallots = keepsBallots
    }

    /// Reads the list, unless it was read in this tick or nothing has changed since.
    ///
    /// It has `revision` at least. The read may need more work than one loop iteration allows.
    func read(_ store: FeedStore, in tick: UInt64, showing revision: UInt64) -> Reading {
        if let readTick, readCount >= topCount {
            if readTick == tick, first.revision >= revision { return .current }
            // Posts leave a window by age, without a change.
            if id.list.window == nil, first.revision == store.revision { return .current }
        }
        guard
            store.readFirstPosts(
                of: id.list.feed,
                id.list.order,
                id.list.window,
                count: topCount,
                filter: id.filter,
                viewer: id.viewer,
                into: &first,
                allowance: &allowance
            )
        else {
            allowance.renew()
            return .again
        }
        allowance = RefreshAllowance()
        readTick = tick
        readCount = topCount
        let entries = first.posts.map { KnownPosts.Entry(id: $0.id, revision: $0.revision) }
        if entries != known.entries || first.createdCount != known.createdCount {
            known = KnownPosts(entries, createdCount: first.createdCount)
        }
        return .read
    }

    /// The end of a call that reads the list.
    enum Reading {
        case read
        /// It need not be read.
        case current
        /// Call again in a later loop iteration.
        case again
    }
}

/// Single posts that a client watches, and the revisions of them that it has been sent.
final class WatchedPosts {
    /// The revision of a post that is gone, which the client has been told.
    static let goneRevision = UInt64.max

    /// The posts, in the order of the request.
    let ids: [PostID]
    /// For each of them the revision that was sent; 0 where none was.
    var revisions: [UInt64]
    /// The revision of the store at the last look; nil before the first event.
    var lookRevision: UInt64?

    /// Posts of which a client knows everything up to a revision; 0 is nothing.
    init(_ ids: [PostID], knownUpTo revision: UInt64) {
        self.ids = ids
        revisions = Array(repeating: revision, count: ids.count)
    }
}

/// The first posts of a list, and the revisions of them that a client has been sent.
///
/// Clients that have been sent the same share one value, so that the next event is encoded once for all
/// of them.
final class KnownPosts {
    /// A post, as of a revision.
    struct Entry: Equatable {
        var id: PostID
        /// The revision that was sent; 0 where none was.
        var revision: UInt64
    }

    let entries: [Entry]
    /// The posts that had been created in the list's feed by then.
    let createdCount: UInt64

    /// What a client knows from now on.
    init(_ entries: [Entry], createdCount: UInt64) {
        self.entries = entries
        self.createdCount = createdCount
    }
}
