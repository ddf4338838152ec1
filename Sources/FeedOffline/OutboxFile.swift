package import FeedClient
package import FeedProto

/// What a flush needs of the outbox's file: sequences before entries leave, and the keeping of answers.
///
/// The audits of tests put wrong ones in front of the right one.
package protocol OutboxFile {
    /// The next entries of an account to send; none where nothing can be sent. Their sequences are durable.
    ///
    /// The account 0 is the device.
    func numberNext(of userID: UInt64) throws(OfflineError) -> [NumberedEntry]

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
    /// says nothing of the earlier one.
    init(_ result: Result<Answer, FeedClientError>, of change: NumberedChange) {
        defer { if change.mayHaveLeft, case .notSent = outcome { outcome = nil } }
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

    private var answerCount = 0
    private var resetCount = 0

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
