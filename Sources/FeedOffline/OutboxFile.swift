package import FeedClient
package import FeedProto

/// What a flush needs of the outbox's file: sequences before entries leave, and the keeping of answers.
///
/// The audits of tests put wrong ones in front of the right one.
package protocol OutboxFile {
    /// The next entries of an account to send; none where nothing can be sent. Their sequences are durable.
    ///
    /// The account 0 is the device.
    func numberNext(of userID: UserID) throws(OfflineError) -> [NumberedEntry]

    /// Takes what the service said to entries, durably.
    func settle(
        _ outcomes: [(number: UInt64, outcome: OutboxOutcome)]
    ) throws(OfflineError)
}

extension OfflineStore: OutboxFile {}

/// A change that leaves: its entry has its sequence in the file.
package struct NumberedEntry: Sendable {
    package let number: UInt64
    /// What is sent.
    package let change: NumberedChange
}

/// What the service said to an entry.
package enum OutboxOutcome: Sendable {
    /// It certainly had no effect, and is sent later as if it had not left.
    case notSent
    /// It was executed.
    case done(Answer)
    /// It was executed, and the post was deleted since.
    case gone
    /// It was refused and had no effect.
    case failed(Status)
    /// Nobody knows whether it was executed.
    case inDoubt(OutboxDoubt)
}

/// What the end of a call means for its entry, and whether the flush goes on.
struct FlushStep {
    /// What the file keeps; nil leaves the entry as one that may have been executed.
    var outcome: OutboxOutcome?
    /// Why no further entry is sent for now.
    var stop: FeedClientError?

    /// Reads the result of a call.
    ///
    /// An entry that may have left in an earlier process keeps its sequence. That this call did not leave
    /// says nothing of the earlier one. Without a sequence it is in doubt, as the next sync would be.
    init(
        _ result: Result<Answer, FeedClientError>,
        of change: NumberedChange,
        isNumbered: Bool
    ) {
        defer {
            if change.mayHaveLeft, case .notSent = outcome { outcome = nil }
            if outcome == nil, !isNumbered { outcome = .inDoubt(.channelForgotten) }
        }
        switch result {
        case .success(let answer):
            outcome =
                answer.response.answers(change.request) ? .done(answer) : .inDoubt(.serviceFailed)
        case .failure(.inDoubt(let cause)): outcome = .inDoubt(OutboxDoubt(cause))
        case .failure(.refused(let status)): refuse(status)
        case .failure(.requestTooLarge(let byteCount, let limit)):
            outcome = .failed(.tooLarge(byteCount, limit))
        case .failure(let error):
            if error.effect == .none { outcome = .notSent }
            stop = error
        }
    }

    private mutating func refuse(_ status: Status) {
        // These are about the connection or the moment, not about the change.
        if status.isTemporary || status.code == .deadlineExceeded
            || [.sessionExpired, .channelFenced].contains(status.reason)
        {
            if status.isNotExecuted { outcome = .notSent }
            stop = .refused(status)
        } else if status.isNotExecuted {
            outcome = .failed(status)
        } else if status.code == .notFound {
            outcome = .gone
        } else {
            outcome = .inDoubt(.serviceFailed)
        }
    }
}

extension Response {
    /// Whether a service may answer a change so: another answer would take the change out of the outbox
    /// without a trace.
    fileprivate func answers(_ request: Request) -> Bool {
        switch (request, self) {
        case (.castVote(let vote), .castVote(let counts)): vote.postID == counts.postID
        case (.createPost, .post(let post)): post.hasServiceID
        case (.updatePost(let update), .post(let post)): update.post?.id == post.id
        // A repeat of marks has no count.
        case (.markPosts, .markPosts), (.markPosts, .empty), (.deletePost, .empty): true
        default: false
        }
    }
}

extension Status {
    fileprivate static func tooLarge(_ byteCount: UInt64, _ limit: Int) -> Status {
        Status(
            code: .invalidArgument,
            reason: .badFrame,
            message: "The change has \(byteCount) bytes; the service takes \(limit)."
        )
    }
}

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
    private static let maximumResetCount = 4

    /// The posts that a chain may bring before the kept lists cost less.
    private let postLimit: Int?
    private var answerCount = 0
    private var resetCount = 0
    private var postCount = 0

    package init(keeps: KeptPosts = .all) {
        postLimit = if case .newest(let count) = keeps { max(count, 1_000) } else { nil }
    }

    /// Notes that a bounded copy begins anew.
    mutating func beginLists() throws(OfflineError) {
        resetCount += 1
        try checkResets()
    }

    /// Whether a sync may read the lists of a bounded copy by its own choice: once, so that it ends.
    var mayBeginLists: Bool { resetCount == 0 }

    /// Whether a bounded copy has to begin with its lists in place of an answer: the service no longer knows
    /// what has changed, or it is more than the lists have.
    mutating func needsLists(after answer: SyncPostsResponse) -> Bool {
        guard let postLimit else { return false }
        postCount += answer.posts.count
        return answer.isReset || answer.hasMore && postCount > postLimit && mayBeginLists
    }

    private func checkResets() throws(OfflineError) {
        guard resetCount > Self.maximumResetCount else { return }
        throw .violation(
            "The service has begun \(resetCount) copies of the feed; the limit is "
                + "\(Self.maximumResetCount)."
        )
    }

    /// Refuses an answer that does not lead on, or with posts that no service has.
    package mutating func check(
        _ answer: SyncPostsResponse,
        to request: SyncPostsRequest
    ) throws(OfflineError) {
        answerCount += 1
        // A bounded copy counts when its lists begin.
        if answer.isReset, postLimit == nil { resetCount += 1 }
        let place = answer.isReset ? 0 : request.sinceRevision
        let problem: String? =
            if answer.hasMore, answer.nextRevision <= place,
                answer.marks?.next ?? request.marks == request.marks
            {
                "The answer has more, and leads from revision \(place) to \(answer.nextRevision)."
            } else if answer.hasMore, answerCount >= Self.maximumAnswerCount {
                "The service has more after \(answerCount) answers."
            } else {
                nil
            }
        if let problem { throw .violation(problem) }
        try checkResets()
        try answer.posts.checkIDs()
    }
}

extension OfflineError {
    /// An answer that no service of the protocol gives.
    static func violation(_ reason: String) -> OfflineError {
        .service(.protocolViolation(reason: reason, effect: .none))
    }
}

extension [Post] {
    /// Refuses a post whose id no service gives: it would take the place of one that was made here.
    func checkIDs() throws(OfflineError) {
        guard let post = first(where: { !$0.hasServiceID }) else { return }
        throw .violation("No service has a post \(post.id).")
    }
}

extension Post {
    /// Whether the id is one that a service gives: 1 to 2^56 - 1.
    var hasServiceID: Bool { 1..<1 << 56 ~= id.rawValue }
}
