internal import FeedProto
internal import FeedRanking

/// Feeds and the service itself.
extension MemoryState {
    /// All feeds, with what the viewer has left to read.
    func listFeeds(_ viewer: MemoryViewer) -> Response {
        let voter = voter(of: viewer)
        let feeds = store.feeds().map { summary in
            var feed = Feed(summary.policy, postCount: summary.postCount)
            if viewer.key != nil { feed.unreadCount = unreadCount(in: summary.id, voter) }
            return feed
        }
        return .listFeeds(ListFeedsResponse(feeds: feeds))
    }

    /// Creates a feed.
    func createFeed(
        _ request: CreateFeedRequest,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        try requireService(caller)
        guard let feed = request.feed else { throw .invalid(.badField, "create_feed.feed") }
        try TextRules.checkFeedName(feed.name)
        let policy = try FeedPolicy(feed)
        _ = try ranked { () throws(RankingError) in try store.createFeed(policy) }
        return .feed(Feed(policy, postCount: 0))
    }

    /// Returns the payload.
    func ping(_ request: PingRequest) throws(Status) -> Response {
        let count = request.payload.count
        let limit = MemoryLimits.pingByteCount
        guard count <= limit else {
            throw .invalid(.badField, "payload", limit: limit, actual: UInt64(count))
        }
        return .ping(PingResponse(payload: request.payload, serving: .serving))
    }

    /// The counters; those of what a service in memory does not have are 0.
    var stats: ServerStats {
        ServerStats(
            serverName: "feed-service in memory",
            startTimeMilliseconds: 0,
            connectionCount: 1,
            postCount: store.postCount,
            revision: store.revision,
            methods: [],
            stripeContentionCount: 0,
            acceptedConnectionCount: 0,
            refusedConnectionCount: 0,
            slowFrameCount: 0,
            badFrameCount: 0,
            bufferedByteCount: 0,
            acceptPauseCount: 0,
            durability: "none",
            accountCount: UInt64(accounts.counts.accounts),
            sessionCount: UInt64(accounts.counts.sessions)
        )
    }
}

extension FeedPolicy {
    /// The policy that a caller asks for; 0 and unspecified are the service's own values.
    fileprivate init(_ feed: Feed) throws(Status) {
        let order = feed.defaultOrder == .unspecified ? .top : feed.defaultOrder
        guard let defaultOrder = FeedRanking.Order(order) else {
            throw .invalid(.badField, "feed.default_order")
        }
        let textLimit = try Self.limit(
            feed.maximumTextLength,
            "feed.max_text_length",
            unnamed: MemoryLimits.textCharacterCount,
            MemoryLimits.textCharacterCount
        )
        guard feed.minimumTextLength <= textLimit else {
            let actual = UInt64(feed.minimumTextLength)
            throw .invalid(.badField, "feed.min_text_length", limit: textLimit, actual: actual)
        }
        self.init(
            name: feed.name,
            defaultOrder: defaultOrder,
            voteMode: try Self.voteMode(feed),
            maximumTitleCharacterCount: try Self.limit(
                feed.maximumTitleLength,
                "feed.max_title_length",
                unnamed: MemoryLimits.unnamedTitleCharacterCount,
                MemoryLimits.titleCharacterCount
            ),
            minimumTextCharacterCount: Int(feed.minimumTextLength),
            maximumTextCharacterCount: textLimit
        )
    }

    private static func voteMode(_ feed: Feed) throws(Status) -> FeedRanking.VoteMode {
        switch (feed.voteMode, feed.voters) {
        case (.ballot, .unspecified), (.ballot, .devices): return .ballot
        case (.ballot, .users): return .userBallot
        case (.unspecified, .unspecified), (.unspecified, .devices), (.tally, .unspecified),
            (.tally, .devices):
            return .tally
        case (.unspecified, _), (.tally, _), (.ballot, _): throw .invalid(.badField, "feed.voters")
        default: throw .invalid(.badField, "feed.vote_mode")
        }
    }

    private static func limit(
        _ wanted: UInt32,
        _ field: String,
        unnamed: Int,
        _ maximum: Int
    ) throws(Status) -> Int {
        guard wanted <= maximum else {
            throw .invalid(.badField, field, limit: maximum, actual: UInt64(wanted))
        }
        return wanted == 0 ? unnamed : Int(wanted)
    }
}

extension Feed {
    /// A feed with its policy.
    fileprivate init(_ policy: FeedPolicy, postCount: UInt64) {
        let voters: Voters =
            switch policy.voteMode {
            case .tally: .unspecified
            case .ballot: .devices
            case .userBallot: .users
            }
        self.init(
            name: policy.name,
            defaultOrder: FeedProto.Order(rawValue: Int32(policy.defaultOrder.rawValue) + 1),
            voteMode: policy.voteMode.keepsBallots ? .ballot : .tally,
            maximumTitleLength: UInt32(policy.maximumTitleCharacterCount),
            minimumTextLength: UInt32(policy.minimumTextCharacterCount),
            maximumTextLength: UInt32(policy.maximumTextCharacterCount),
            postCount: postCount,
            voters: voters
        )
    }
}
