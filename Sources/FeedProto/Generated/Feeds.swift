// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

/// What a vote means in a feed.
public struct VoteMode: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The service's default, TALLY.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// Every vote counts, repeated ones included.
    public static var tally: Self { Self(rawValue: 1) }
    /// A vote sets the voter's one ballot.
    public static var ballot: Self { Self(rawValue: 2) }

    /// The contract's names, by number.
    public static let names = ["VOTE_MODE_UNSPECIFIED", "TALLY", "BALLOT"]
}

/// Whose ballots count in a BALLOT feed.
public struct Voters: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The service's default, DEVICES.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// Users: those who are signed in, and those whom a service acts for.
    public static var users: Self { Self(rawValue: 1) }
    /// Any caller with a `clientID`, too.
    ///
    /// A device is not a person.
    public static var devices: Self { Self(rawValue: 2) }

    /// The contract's names, by number.
    public static let names = ["VOTERS_UNSPECIFIED", "USERS", "DEVICES"]
}

/// A feed and its policy, which never changes once the feed exists.
public struct Feed: Equatable, Sendable {
    /// The name: a small letter, then up to 62 small letters, digits and hyphens.
    public var name: String
    /// The order of lists that name no order; unspecified is TOP.
    public var defaultOrder: Order
    /// What a vote means; unspecified is TALLY.
    public var voteMode: VoteMode
    /// The most characters of a title, up to 1,000; 0 is 255.
    public var maximumTitleLength: UInt32
    /// The fewest characters of a text.
    public var minimumTextLength: UInt32
    /// The most characters of a text; 0 is 10,000.
    public var maximumTextLength: UInt32
    /// How many posts it has; not read in a request.
    public var postCount: UInt64
    /// How many of them the caller has neither read nor dismissed; not read in a request, and 0 for
    /// callers without identity.
    public var unreadCount: UInt64
    /// Whose ballots count in a BALLOT feed; unspecified is DEVICES.
    public var voters: Voters

    /// All fields; those with a default may be left out.
    public init(
        name: String,
        defaultOrder: Order = .unspecified,
        voteMode: VoteMode = .unspecified,
        maximumTitleLength: UInt32 = 0,
        minimumTextLength: UInt32 = 0,
        maximumTextLength: UInt32 = 0,
        postCount: UInt64 = 0,
        unreadCount: UInt64 = 0,
        voters: Voters = .unspecified
    ) {
        self.name = name
        self.defaultOrder = defaultOrder
        self.voteMode = voteMode
        self.maximumTitleLength = maximumTitleLength
        self.minimumTextLength = minimumTextLength
        self.maximumTextLength = maximumTextLength
        self.postCount = postCount
        self.unreadCount = unreadCount
        self.voters = voters
    }
}

/// All feeds.
public struct ListFeedsResponse: Equatable, Sendable {
    /// The feeds, in the order of their creation.
    public var feeds: [Feed]

    /// All fields; each must be given.
    public init(feeds: [Feed]) {
        self.feeds = feeds
    }
}

/// Creates a feed; FEED_EXISTS where there is one of that name.
///
/// For service callers.
///
/// The answer: `Feed`.
public struct CreateFeedRequest: Equatable, Sendable {
    /// Its name and policy.
    public var feed: Feed?

    /// All fields; each must be given.
    public init(feed: Feed?) {
        self.feed = feed
    }
}

extension Feed: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__Feed>) {
        unsafe feed__v1__feed__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__Feed>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            name: reader.text(message.pointee.name, "name"),
            defaultOrder: Order(message.pointee.default_order),
            voteMode: VoteMode(message.pointee.vote_mode),
            maximumTitleLength: message.pointee.max_title_length,
            minimumTextLength: message.pointee.min_text_length,
            maximumTextLength: message.pointee.max_text_length,
            postCount: message.pointee.post_count,
            unreadCount: message.pointee.unread_count,
            voters: Voters(message.pointee.voters)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__Feed>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.name = arena.text(name)
        unsafe message.pointee.default_order = defaultOrder.cValue()
        unsafe message.pointee.vote_mode = voteMode.cValue()
        unsafe message.pointee.max_title_length = maximumTitleLength
        unsafe message.pointee.min_text_length = minimumTextLength
        unsafe message.pointee.max_text_length = maximumTextLength
        unsafe message.pointee.post_count = postCount
        unsafe message.pointee.unread_count = unreadCount
        unsafe message.pointee.voters = voters.cValue()
    }
}

extension ListFeedsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ListFeedsResponse>) {
        unsafe feed__v1__list_feeds_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ListFeedsResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feeds: reader.messages(message.pointee.feeds, count: message.pointee.n_feeds, "feeds")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ListFeedsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_feeds = feeds.count
        unsafe message.pointee.feeds = arena.messages(feeds)
    }
}

extension CreateFeedRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CreateFeedRequest>) {
        unsafe feed__v1__create_feed_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CreateFeedRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.message(message.pointee.feed, "feed")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CreateFeedRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.message(feed)
    }
}
