package import FeedOrders
package import FeedProto
package import FeedRanking

// The values of the wire as values of the ranking, and back.

extension FeedRanking.Order {
    /// The order of a number from the wire; nil for unspecified and for numbers without a meaning.
    package init?(_ order: FeedProto.Order) {
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
    package init(_ order: FeedRanking.Order) {
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

extension FeedOrders.Window {
    /// The window of a number from the wire; nil for unspecified and for numbers without a meaning.
    package init?(_ window: FeedProto.Window) {
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

extension FeedRanking.Mark {
    /// The mark of a number from the wire; nil for unspecified and for numbers without a meaning.
    package init?(_ mark: FeedProto.Mark) {
        switch mark {
        case .read: self = .read
        case .unread: self = .unread
        case .dismissed: self = .dismissed
        case .restored: self = .restored
        default: return nil
        }
    }
}

extension FeedProto.Mark {
    init(_ mark: FeedRanking.Mark) {
        switch mark {
        case .read: self = .read
        case .unread: self = .unread
        case .dismissed: self = .dismissed
        case .restored: self = .restored
        }
    }
}

extension Device16 {
    /// The device of a client_id; nil unless it has 16 bytes.
    package init?(clientID bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
        )
    }

    /// The client_id.
    package var clientID: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
    }
}

extension PostContent {
    /// The fields of a new post that a caller may set.
    package init(_ post: Post) {
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
    package init(_ post: Post, _ mask: [PostField]) throws(Status) {
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
    package init(_ policy: FeedPolicy, postCount: UInt64) {
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

extension Status {
    /// A feed whose votes all count has no voters to choose.
    fileprivate static var votersOfTally: Status {
        .invalid(
            .badField,
            field: "feed.voters",
            "feed.voters is USERS, but every vote of a TALLY feed counts.",
            actual: UInt64(Voters.users.rawValue)
        )
    }
}

extension FeedPolicy {
    /// The policy that a caller asks for; 0 and unspecified are the service's own values.
    init(_ feed: Feed, limits: CallLimits) throws(Status) {
        let order = feed.defaultOrder == .unspecified ? .top : feed.defaultOrder
        guard let defaultOrder = FeedRanking.Order(order) else {
            throw .unknownValue(feed.defaultOrder, field: "feed.default_order")
        }
        let textLimit = try Self.limit(
            feed.maximumTextLength,
            field: "feed.max_text_length",
            unnamed: limits.maximumTextCharacterCount,
            maximum: limits.maximumTextCharacterCount
        )
        guard feed.minimumTextLength <= textLimit else {
            throw .invalid(
                .badField,
                field: "feed.min_text_length",
                "feed.min_text_length is \(feed.minimumTextLength); the longest text has "
                    + "\(textLimit) characters.",
                limit: UInt64(textLimit),
                actual: UInt64(feed.minimumTextLength)
            )
        }
        self.init(
            name: feed.name,
            defaultOrder: defaultOrder,
            voteMode: try Self.voteMode(feed),
            maximumTitleCharacterCount: try Self.limit(
                feed.maximumTitleLength,
                field: "feed.max_title_length",
                unnamed: limits.defaultTitleCharacterCount,
                maximum: limits.maximumTitleCharacterCount
            ),
            minimumTextCharacterCount: Int(feed.minimumTextLength),
            maximumTextCharacterCount: textLimit
        )
    }

    private static func voteMode(_ feed: Feed) throws(Status) -> FeedRanking.VoteMode {
        let ballot: FeedRanking.VoteMode =
            switch feed.voters {
            case .unspecified, .devices: .ballot
            case .users: .userBallot
            default: throw .unknownValue(feed.voters, field: "feed.voters")
            }
        switch feed.voteMode {
        case .ballot: return ballot
        case .unspecified, .tally:
            guard ballot == .ballot else { throw .votersOfTally }
            return .tally
        default: throw .unknownValue(feed.voteMode, field: "feed.vote_mode")
        }
    }

    private static func limit(
        _ wanted: UInt32,
        field: String,
        unnamed: Int,
        maximum: Int
    ) throws(Status) -> Int {
        guard wanted > 0 else { return unnamed }
        guard wanted <= maximum else {
            throw .invalid(
                .badField,
                field: field,
                "\(field) is \(wanted); the limit is \(maximum).",
                limit: UInt64(maximum),
                actual: UInt64(wanted)
            )
        }
        return Int(wanted)
    }
}
