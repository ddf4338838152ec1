/// For services: the range of a text in a buffer of texts that several posts share.
public struct TextRange: Equatable, Sendable {
    /// The text's first byte.
    public var offset: UInt32
    /// The text's length in bytes; 0 is no text.
    public var byteCount: UInt32

    /// The bytes from `offset` on.
    public init(offset: UInt32, byteCount: UInt32) {
        self.offset = offset
        self.byteCount = byteCount
    }

    /// No text.
    public static var empty: Self { Self(offset: 0, byteCount: 0) }
}
