/// The direction of a vote.
public struct VoteDirection: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No direction; as a ballot, none.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// For the post.
    public static var up: Self { Self(rawValue: 1) }
    /// Against the post.
    public static var down: Self { Self(rawValue: 2) }
    /// Takes the ballot back, where votes are ballots.
    public static var clear: Self { Self(rawValue: 3) }

    /// The contract's names, by number.
    public static let names = ["VOTE_DIRECTION_UNSPECIFIED", "UP", "DOWN", "CLEAR"]
}
