import FeedClient
import FeedProto

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
