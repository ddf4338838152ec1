internal import FeedRanking

/// The user or the device whose ballots and marks the events of a watch show.
struct WatchViewer {
    /// The identity; nil where the caller has none, and posts are shown without a viewer.
    let key: VoterKey?
    /// The number of the identity in the ranking; nil before its first ballot or mark.
    private var voter: VoterID?

    /// The viewer of this identity.
    init(_ key: VoterKey?) { self.key = key }

    /// What an event shows of a viewer.
    enum View {
        /// Posts without a viewer.
        case none
        /// A viewer without ballots or marks, who sees what all such viewers see.
        case blank
        /// The ballots and marks of this viewer.
        case own(VoterID, ViewerMarks?)
    }

    /// What an event shows of the viewer now.
    ///
    /// - Parameters:
    ///   - store: The ballots and marks.
    ///   - keepsBallots: Whether one of the posts may have ballots.
    /// - Returns: The view of the viewer's own ballots and marks only where there may be some.
    mutating func view(in store: FeedStore, keepsBallots: Bool) -> View {
        guard let key else { return .none }
        if voter == nil { voter = store.voter(ifKnown: key) }
        guard let voter else { return .blank }
        let marks = store.marks(of: voter)
        return marks == nil && !keepsBallots ? .blank : .own(voter, marks)
    }
}

extension WatchViewer.View {
    /// Whether posts show a viewer.
    var isShown: Bool {
        switch self {
        case .none: false
        case .blank, .own: true
        }
    }

    /// Whether no other viewer sees the same.
    var isOwn: Bool { voter != nil }

    /// The viewer's number; nil where it has no ballots and marks.
    var voter: VoterID? {
        switch self {
        case .none, .blank: nil
        case .own(let voter, _): voter
        }
    }
}
