/// What a service may offer beyond the calls of version 1.
public struct Capability: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No capability.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// Mutations may carry a sequence, and are then executed exactly once.
    public static var exactlyOnce: Self { Self(rawValue: 1) }

    /// The contract's names, by number.
    public static let names = ["CAPABILITY_UNSPECIFIED", "EXACTLY_ONCE"]
}
