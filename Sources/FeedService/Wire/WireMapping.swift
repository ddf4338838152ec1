internal import FeedConcurrency
internal import FeedProto
internal import FeedRanking

// The values of the wire as values of the ranking, and back.

extension FeedRanking.Order {
    /// The order of a number from the wire; nil for unspecified and for numbers without a meaning.
    init?(_ order: FeedProto.Order) {
        switch order {
        case .top: self = .top
        case .new: self = .new
        case .old: self = .old
        case .hot: self = .hot
        case .best: self = .best
        case .controversial: self = .controversial
        case .rising: self = .rising
        case .discussed: self = .discussed
        default: return nil
        }
    }
}

extension FeedProto.Order {
    init(_ order: FeedRanking.Order) {
        switch order {
        case .top: self = .top
        case .new: self = .new
        case .old: self = .old
        case .hot: self = .hot
        case .best: self = .best
        case .controversial: self = .controversial
        case .rising: self = .rising
        case .discussed: self = .discussed
        }
    }
}

extension FeedRanking.Window {
    /// The window of a number from the wire; nil for unspecified and for numbers without a meaning.
    init?(_ window: FeedProto.Window) {
        switch window {
        case .hour: self = .hour
        case .day: self = .day
        case .week: self = .week
        case .month: self = .month
        case .year: self = .year
        default: return nil
        }
    }
}

extension FeedRanking.VoteDirection {
    /// The direction of a number from the wire; nil for numbers without a meaning.
    init?(_ direction: FeedProto.VoteDirection) {
        switch direction {
        case .up: self = .up
        case .down: self = .down
        case .clear: self = .clear
        default: return nil
        }
    }
}

extension FeedProto.VoteDirection {
    /// A standing ballot; none is unspecified.
    init(_ direction: FeedRanking.VoteDirection?) {
        switch direction {
        case .up: self = .up
        case .down: self = .down
        case .clear, nil: self = .unspecified
        }
    }
}

extension FeedRanking.Mark {
    /// The mark of a number from the wire; nil for unspecified and for numbers without a meaning.
    init?(_ mark: FeedProto.Mark) {
        switch mark {
        case .read: self = .read
        case .unread: self = .unread
        case .dismissed: self = .dismissed
        case .restored: self = .restored
        default: return nil
        }
    }
}

extension CastVoteResponse {
    init(_ postID: UInt64, _ outcome: VoteOutcome) {
        self.init(
            postID: postID,
            score: outcome.score,
            upvoteCount: outcome.upvoteCount,
            downvoteCount: outcome.downvoteCount,
            vote: FeedProto.VoteDirection(outcome.standingVote)
        )
    }
}

extension PostContent {
    /// The fields of a new post that a caller may set.
    init(_ post: Post) {
        self.init(
            authorName: post.author?.displayName ?? "",
            title: post.title,
            text: post.text,
            linkURL: post.linkURL,
            thumbnailURL: post.thumbnailURL,
            imageURL: post.imageURL,
            commentCount: post.commentCount
        )
    }
}

extension PostChanges {
    /// The fields of `post` that the mask names.
    init(_ post: Post, _ mask: [PostField]) throws(Status) {
        self.init()
        for field in mask {
            switch field {
            case .title: title = post.title
            case .text: text = post.text
            case .linkURL: linkURL = post.linkURL
            case .thumbnailURL: thumbnailURL = post.thumbnailURL
            case .imageURL: imageURL = post.imageURL
            case .commentCount: commentCount = post.commentCount
            default: throw .unknownValue(field, field: "update_mask")
            }
        }
    }
}

extension FeedProto.TextRange {
    init(_ range: FeedRanking.TextRange) {
        self.init(offset: range.offset, byteCount: range.count)
    }
}

extension PostFields {
    /// A row of a page; the feed's name is in the same texts.
    init(_ row: PostRow, feed: FeedProto.TextRange) {
        self.init(id: row.id.rawValue)
        self.feed = feed
        authorID = row.authorID
        authorName = FeedProto.TextRange(row.authorName)
        title = FeedProto.TextRange(row.title)
        text = FeedProto.TextRange(row.text)
        linkURL = FeedProto.TextRange(row.linkURL)
        thumbnailURL = FeedProto.TextRange(row.thumbnailURL)
        imageURL = FeedProto.TextRange(row.imageURL)
        score = row.score
        upvoteCount = row.upvoteCount
        downvoteCount = row.downvoteCount
        commentCount = row.commentCount
        createTimeMilliseconds = row.createTimeMilliseconds
        updateTimeMilliseconds = row.updateTimeMilliseconds
        revision = row.revision
        isDeleted = row.isDeleted
    }
}

extension SyncPostsFields {
    /// A page of changes of an instance.
    init(_ page: SyncPage, _ instanceID: UInt64) {
        self.init(nextRevision: page.position.revision, instanceID: instanceID)
        hasMore = page.hasMore
        isReset = page.isReset
        copyRevision = page.position.copyRevision
    }
}

extension Voters {
    /// Whose ballots count; unspecified where every vote does.
    fileprivate init(_ mode: FeedRanking.VoteMode) {
        switch mode {
        case .tally: self = .unspecified
        case .ballot: self = .devices
        case .userBallot: self = .users
        }
    }
}

extension Feed {
    init(_ policy: FeedPolicy, postCount: UInt64) {
        self.init(
            name: policy.name,
            defaultOrder: FeedProto.Order(policy.defaultOrder),
            voteMode: policy.voteMode.keepsBallots ? .ballot : .tally,
            maximumTitleLength: UInt32(policy.maximumTitleCharacterCount),
            minimumTextLength: UInt32(policy.minimumTextCharacterCount),
            maximumTextLength: UInt32(policy.maximumTextCharacterCount),
            postCount: postCount,
            voters: Voters(policy.voteMode)
        )
    }
}

extension Limits {
    init(_ limits: ServiceLimits) {
        self.init(
            maximumFrameByteCount: UInt32(limits.maximumFrameByteCount),
            maximumInFlightCount: UInt32(limits.maximumInFlightCount),
            defaultPageSize: UInt32(limits.defaultPageSize),
            maximumPageSize: UInt32(limits.maximumPageSize),
            maximumBatchGetCount: UInt32(limits.maximumBatchGetCount),
            maximumBatchVoteCount: UInt32(limits.maximumBatchVoteCount),
            maximumSyncPostCount: UInt32(limits.maximumSyncPostCount),
            maximumWatchTopCount: UInt32(limits.maximumWatchTopCount),
            maximumTimeoutMilliseconds: limits.maximumTimeoutMilliseconds,
            idleTimeoutMilliseconds: UInt32(limits.idleTimeout.millisecondsRoundedDown),
            sequenceWindow: UInt32(RecentCalls.window),
            maximumImportPostCount: UInt32(limits.maximumImportPostCount),
            maximumWatchPostCount: UInt32(limits.maximumWatchPostCount),
            maximumWatchCount: UInt32(limits.maximumWatchesPerConnection)
        )
    }
}

extension Method {
    /// The call of a request; `unknown` where there is none.
    init(_ request: borrowing Request?) {
        self =
            switch request {
            case .hello: .hello
            case .ping: .ping
            case .cancel: .cancel
            case .signUp: .signUp
            case .signIn: .signIn
            case .getSession: .getSession
            case .signOut: .signOut
            case .createPost: .createPost
            case .importPosts: .importPosts
            case .getPost: .getPost
            case .batchGetPosts: .batchGetPosts
            case .listPosts: .listPosts
            case .updatePost: .updatePost
            case .deletePost: .deletePost
            case .syncPosts: .syncPosts
            case .watchPosts: .watchPosts
            case .getPostRank: .getPostRank
            case .castVote: .castVote
            case .batchCastVotes: .batchCastVotes
            case .markPosts: .markPosts
            case .listFeeds: .listFeeds
            case .createFeed: .createFeed
            case .getServerStats: .getServerStats
            case .backup: .backup
            case .correctTimes: .correctTimes
            case .deletePosts: .deletePosts
            case .drain: .drain
            case .setLogLevel: .setLogLevel
            case nil: .unknown
            }
    }
}
