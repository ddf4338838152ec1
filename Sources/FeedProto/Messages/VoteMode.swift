/// What a vote means in a feed.
public struct VoteMode: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The service's default, a tally.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// Every vote counts, repeated ones included.
    public static var tally: Self { Self(rawValue: 1) }
    /// A vote sets the voter's only ballot.
    public static var ballot: Self { Self(rawValue: 2) }

    /// The contract's names, by number.
    public static let names = ["VOTE_MODE_UNSPECIFIED", "TALLY", "BALLOT"]
}
