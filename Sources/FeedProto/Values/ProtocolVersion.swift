/// The versions of the protocol.
public enum ProtocolVersion {
    /// The version that this library speaks.
    public static var current: UInt32 { 1 }
}
