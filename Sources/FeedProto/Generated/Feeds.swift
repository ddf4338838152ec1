// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

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
    ///
    /// A device is not the author of a post that it creates in such a feed.
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

extension Feed: SwiftMessage {
    package static var fieldCount: Int { 9 }
    package static var structByteCount: Int { 88 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .int32)
        case 2: FieldShape(3, .int32)
        case 3: FieldShape(4, .uint32)
        case 4: FieldShape(5, .uint32)
        case 5: FieldShape(6, .uint32)
        case 6: FieldShape(7, .uint64)
        case 7: FieldShape(8, .uint64)
        default: FieldShape(9, .int32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            name: tree.text(node, 0, "name"),
            defaultOrder: tree.value(node, 1),
            voteMode: tree.value(node, 2),
            maximumTitleLength: tree.number(node, 3),
            minimumTextLength: tree.number(node, 4),
            maximumTextLength: tree.number(node, 5),
            postCount: tree.number(node, 6),
            unreadCount: tree.number(node, 7),
            voters: tree.value(node, 8)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, name)
        writer.value(2, defaultOrder)
        writer.value(3, voteMode)
        writer.number(4, maximumTitleLength)
        writer.number(5, minimumTextLength)
        writer.number(6, maximumTextLength)
        writer.number(7, postCount)
        writer.number(8, unreadCount)
        writer.value(9, voters)
    }
}

extension ListFeedsResponse: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .message(Feed.self), .repeated)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            feeds: tree.messages(node, 0, "feeds")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, feeds)
    }
}

extension CreateFeedRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 32 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .message(Feed.self))
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            feed: tree.message(node, 0, "feed")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.message(1, feed)
    }
}
