internal import FeedProto
internal import FeedRanking

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
    init(_ feed: Feed, limits: ServiceLimits) throws(Status) {
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
