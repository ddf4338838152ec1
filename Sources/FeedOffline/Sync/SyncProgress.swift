import FeedClient
package import FeedProto

/// How far the answers of a sync have led in one feed.
///
/// A damaged or hostile service may say `more` for ever, or name posts that would take the place of others.
package struct SyncProgress {
    /// The most answers of a feed in a sync: 500 posts each are 131 million.
    ///
    /// What was copied stays, so the next sync of a larger feed goes on.
    package static let maximumAnswerCount = 1 << 18
    /// The most copies of a feed that a sync begins.
    ///
    /// An instance that is replaced, or that forgets deletions, while the sync runs begins another one.
    package static let maximumResetCount = 4

    private var answerCount = 0
    private var resetCount = 0

    /// No answers.
    package init() {}

    /// Refuses an answer that does not lead on, or with posts that no service has.
    package mutating func check(
        _ answer: SyncPostsResponse,
        to request: SyncPostsRequest
    ) throws(OfflineError) {
        answerCount += 1
        if answer.isReset { resetCount += 1 }
        let place = answer.isReset ? 0 : request.sinceRevision
        let problem: String? =
            if answer.hasMore, answer.nextRevision <= place {
                "The answer has more, and leads from revision \(place) to \(answer.nextRevision)."
            } else if answer.hasMore, answerCount >= Self.maximumAnswerCount {
                "The service has more after \(answerCount) answers."
            } else if resetCount > Self.maximumResetCount {
                "The service has begun \(resetCount) copies of the feed; the limit is "
                    + "\(Self.maximumResetCount)."
            } else {
                answer.posts.first { !$0.hasServiceID }.map { "No service has a post \($0.id)." }
            }
        guard let problem else { return }
        throw .service(.protocolViolation(reason: problem, effect: .none))
    }
}

extension Post {
    /// Whether the id is one that a service gives: 1 to 2^56 - 1.
    var hasServiceID: Bool { 1..<1 << 56 ~= id }
}
