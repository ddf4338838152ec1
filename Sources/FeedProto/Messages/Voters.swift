/// Whose ballots count, where votes are ballots.
public struct Voters: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The service's default, devices.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// Users who are signed in.
    public static var users: Self { Self(rawValue: 1) }
    /// Any caller with a client id, too.
    public static var devices: Self { Self(rawValue: 2) }

    /// The contract's names, by number.
    public static let names = ["VOTERS_UNSPECIFIED", "USERS", "DEVICES"]
}
