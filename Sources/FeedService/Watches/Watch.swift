internal import FeedConcurrency
internal import FeedRanking

/// A watch of a connection: what its client has been sent, and when the next event is due.
struct Watch {
    /// What is watched.
    enum Subject {
        /// The first posts of a list.
        case list(WatchedList, topCount: Int)
        /// Single posts.
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
        case service
    }

    /// The id of the frame that began the watch, which all of its events have.
    let id: UInt64
    /// What is watched.
    let subject: Subject
    /// The least time between two events.
    let interval: Duration
    /// Whose rights the watch depends on.
    let owner: Owner
    /// Whose share of all watches it is in.
    let peer: ClientIdentity
    /// Whether that has no share.
    let mayHaveAll: Bool
    /// Whose ballots and marks the events show.
    var viewer: WatchViewer
    /// The revision that the first event must show at least.
    let leastRevision: UInt64
    /// What the client knows; of single posts `subject` has the rest.
    var known: Known
    /// When the next event may be sent.
    var due: MonotonicInstant
}
