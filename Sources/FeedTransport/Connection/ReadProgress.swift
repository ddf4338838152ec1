// Public, because every batch of requests crosses modules with one: the compiler inlines this and
// would not inline a `package` type.

/// The progress of a handler in the bytes that it was shown.
public struct ReadProgress: Sendable, Hashable {
    /// The number of bytes, from the first, that are not to be shown again.
    public var consumedByteCount: Int

    /// Whether complete work is left: the rest is shown again in the next loop iteration, before
    /// anything new is read.
    ///
    /// Otherwise the rest waits for more bytes.
    public var wantsIteration: Bool

    /// Whether that iteration is useless before some of the written bytes have been sent.
    public var waitsForWrites: Bool

    /// Whether the consumed bytes may have a secret: they are overwritten before the next wait.
    public var hasSecret: Bool

    /// Progress of `consumedByteCount` bytes.
    public init(
        consumedByteCount: Int,
        wantsIteration: Bool = false,
        waitsForWrites: Bool = false,
        hasSecret: Bool = false
    ) {
        self.consumedByteCount = consumedByteCount
        self.wantsIteration = wantsIteration
        self.waitsForWrites = waitsForWrites
        self.hasSecret = hasSecret
    }
}
