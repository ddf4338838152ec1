/// An enum of the contract as it was received: it may be a number that has no name here.
///
/// A receiver detects such numbers with `isKnown` or the `default` of a `switch`, and rejects them.
/// Treating one as a default would do something that the sender did not ask for.
public protocol WireEnum: RawRepresentable<Int32>, Hashable, Sendable, CustomStringConvertible {
    /// The contract's names of the numbers 0, 1, 2 and so on, without gaps.
    static var names: [String] { get }

    /// Takes any number, known or not.
    init(rawValue: Int32)
}

extension WireEnum {
    /// Whether the contract has a name for this number.
    public var isKnown: Bool { Self.names.indices.contains(Int(rawValue)) }

    /// The contract's name, or the bare number if it has none.
    public var description: String { isKnown ? Self.names[Int(rawValue)] : "\(rawValue)" }

    /// The number in its wire form: enums are signed there, and extended to 64 bits.
    @inline(__always)
    var wireNumber: UInt64 { UInt64(bitPattern: Int64(rawValue)) }
}

/// The versions of the protocol.
public enum ProtocolVersion {
    /// The version that this library speaks.
    public static var current: UInt32 { 1 }
}
