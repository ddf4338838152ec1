import FeedClient
import FeedProto

/// What a service refuses for certain, by what it said last of its limits and of the feed.
///
/// The policy of a feed never changes. What only the service knows, as whether a post still exists, is no
/// reason to refuse here.
struct ChangeRules {
    let limits: Limits?
    /// The feed of the post that the change is about; nil if it is unknown.
    let feed: Feed?
    /// The account that makes the change; 0 is the device.
    let userID: UserID

    /// The service's refusal of a change; nil if it may take it.
    func refusal(of request: Request) -> Status? {
        switch request {
        case .castVote(let vote): refusal(of: vote.direction)
        case .createPost(let creation): creation.post.flatMap(refusal)
        case .updatePost(let update): refusal(of: update)
        case .markPosts(let marks) where marks.throughPostID == 0:
            refusal(ofMarks: marks.postIDs.count)
        default: nil
        }
    }

    private func refusal(of direction: VoteDirection) -> Status? {
        guard let feed else { return nil }
        let isBallot = feed.voteMode == .ballot
        switch direction {
        case .up, .down,
            .clear where isBallot:
            break
        default:
            let message =
                "direction is \(direction); a vote is UP or DOWN, or CLEAR on a BALLOT feed."
            return .refusal(.badVote, field: "direction", message)
        }
        guard isBallot, feed.voters == .users, userID == 0 else { return nil }
        return Status(
            code: .unauthenticated,
            reason: .identityRequired,
            message: "Only users have ballots in this feed: sign in first.",
            isNotExecuted: true
        )
    }

    private func refusal(of post: Post) -> Status? {
        refusal(ofTitle: post.title) ?? refusal(ofText: post.text)
    }

    private func refusal(of update: UpdatePostRequest) -> Status? {
        guard let post = update.post, !update.updateMask.isEmpty else {
            let message = "update_mask is absent; the call needs it."
            return .refusal(.badField, field: "update_mask", message)
        }
        if update.updateMask.contains(.title), let status = refusal(ofTitle: post.title) {
            return status
        }
        return update.updateMask.contains(.text) ? refusal(ofText: post.text) : nil
    }

    private func refusal(ofTitle title: String) -> Status? {
        guard let limit = feed?.maximumTitleLength, limit > 0 else { return nil }
        if limit == limits?.maximumTitleLength, let byteLimit = limits?.maximumTitleByteCount,
            byteLimit > 0, title.utf8.count > Int(byteLimit)
        {
            let message = "post.title has \(title.utf8.count) bytes; the limit is \(byteLimit)."
            return .refusal(.titleTooLong, field: "post.title", message)
        }
        return Self.refusal(of: title, "post.title", .titleTooLong, limit: limit)
    }

    private func refusal(ofText text: String) -> Status? {
        guard let feed else { return nil }
        let least = Int(feed.minimumTextLength)
        if text.count < least {
            let message =
                "post.text has \(text.count) characters; this feed asks for at least \(least)."
            return .refusal(.textEmpty, field: "post.text", message)
        }
        guard feed.maximumTextLength > 0 else { return nil }
        return Self.refusal(of: text, "post.text", .textTooLong, limit: feed.maximumTextLength)
    }

    private static func refusal(
        of text: String,
        _ field: String,
        _ reason: Reason,
        limit: UInt32
    ) -> Status? {
        guard text.utf8.count > Int(limit), text.count > Int(limit) else { return nil }
        let message = "\(field) has \(text.count) characters; the limit is \(limit)."
        return .refusal(reason, field: field, message)
    }

    private func refusal(ofMarks count: Int) -> Status? {
        guard let limit = limits?.maximumBatchGetCount, limit > 0 else { return nil }
        guard !(1...Int(limit)).contains(count) else { return nil }
        let reason: Reason = count == 0 ? .badField : .batchTooLarge
        let message = "post_ids holds \(count); a batch takes 1 to \(limit)."
        return .refusal(reason, field: "post_ids", message)
    }
}

extension Status {
    fileprivate static func refusal(_ reason: Reason, field: String, _ message: String) -> Status {
        Status(
            code: .invalidArgument,
            reason: reason,
            message: message,
            isNotExecuted: true,
            violations: [FieldViolation(field: field, reason: reason)]
        )
    }
}
