import FeedProto

/// A post as lists show it: what the service said last, and the changes in the outbox on top.
struct ShownPost: Equatable {
    var post: Post
    /// Whether no list has it: its deletion waits in the outbox, or its creation is in a state or of an
    /// account that is not shown.
    var isGone = false

    init(_ post: Post) { self.post = post }

    /// Applies a change of the outbox that names the post; `mode` is that of the post's feed.
    mutating func apply(_ request: Request, mode: VoteMode) {
        switch request {
        case .castVote(let vote): cast(vote.direction, mode)
        case .updatePost(let update): edit(update)
        case .deletePost: isGone = true
        case .markPosts(let marks): mark(marks.mark)
        default: break
        }
    }

    mutating func mark(_ mark: Mark) {
        var viewer = post.viewer ?? Viewer()
        switch mark {
        case .read: viewer.isRead = true
        case .unread: viewer.isRead = false
        case .dismissed: viewer.isDismissed = true
        case .restored: viewer.isDismissed = false
        default: break
        }
        post.viewer = viewer
    }

    private mutating func cast(_ direction: VoteDirection, _ mode: VoteMode) {
        if mode == .ballot {
            var viewer = post.viewer ?? Viewer()
            count(viewer.vote, up: { $0 &- 1 }, isTakenBack: true)
            viewer.vote = direction == .clear ? .unspecified : direction
            post.viewer = viewer
        }
        count(direction, up: { $0 &+ 1 }, isTakenBack: false)
        post.score =
            Int64(clamping: post.upvoteCount) - Int64(clamping: post.downvoteCount)
    }

    private mutating func count(
        _ direction: VoteDirection,
        up change: (UInt64) -> UInt64,
        isTakenBack: Bool
    ) {
        switch direction {
        case .up where !isTakenBack || post.upvoteCount > 0:
            post.upvoteCount = change(post.upvoteCount)
        case .down where !isTakenBack || post.downvoteCount > 0:
            post.downvoteCount = change(post.downvoteCount)
        default: break
        }
    }

    private mutating func edit(_ update: UpdatePostRequest) {
        guard let new = update.post else { return }
        for field in update.updateMask {
            switch field {
            case .title: post.title = new.title
            case .text: post.text = new.text
            case .linkURL: post.linkURL = new.linkURL
            case .thumbnailURL: post.thumbnailURL = new.thumbnailURL
            case .imageURL: post.imageURL = new.imageURL
            case .commentCount: post.commentCount = new.commentCount
            default: break
            }
        }
    }
}
