/// Whether a service takes calls.
public struct ServingStatus: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The service did not say.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// It takes calls.
    public static var serving: Self { Self(rawValue: 1) }
    /// It is about to stop: finish your calls, and connect elsewhere.
    public static var draining: Self { Self(rawValue: 2) }

    /// The contract's names, by number.
    public static let names = ["SERVING_STATUS_UNSPECIFIED", "SERVING", "DRAINING"]
}
