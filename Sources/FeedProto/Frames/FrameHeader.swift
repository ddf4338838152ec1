/// The prefix of each message: its length in bytes, big-endian.
public enum FrameHeader {
    /// The bytes of a header.
    public static var byteCount: Int { 4 }

    /// The longest frame, without its header, that a service takes by default.
    public static var defaultMaximumFrameByteCount: Int { 1 << 20 }
}
