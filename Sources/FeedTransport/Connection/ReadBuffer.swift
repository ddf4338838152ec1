/// The bytes that a handler left: the start of a frame that it waits to see whole, or work for its
/// next loop iteration.
///
/// It is empty on most connections most of the time, and then holds no memory.
package struct ReadBuffer {
    private var storage: [UInt8] = []
    private var start = 0

    package init() {}

    package var byteCount: Int { storage.count - start }

    /// The memory that it takes; it counts as none if nothing is held.
    package var capacityByteCount: Int { isEmpty ? 0 : storage.capacity }

    package var isEmpty: Bool { byteCount == 0 }

    package mutating func append(_ bytes: RawSpan) {
        if start > 0 {
            storage.removeSubrange(..<start)
            start = 0
        }
        storage.makeRoom(for: bytes.byteCount)
        storage.append(copying: bytes)
    }

    /// Drops bytes from the front; an emptied buffer returns large memory.
    ///
    /// With `overwriting` nothing of them, nor of earlier ones, is left in memory.
    package mutating func consume(_ byteCount: Int, overwriting: Bool = false) {
        precondition(byteCount <= self.byteCount, "More bytes were consumed than were shown.")
        start += byteCount
        if start == storage.count {
            removeAll(overwriting: overwriting)
        } else if overwriting {
            overwriteConsumed()
        }
    }

    package mutating func removeAll(overwriting: Bool = false) {
        if overwriting { storage.overwrite() }
        let keeps = storage.capacity <= TransportLimits.retainedCapacityByteCount
        storage.removeAll(keepingCapacity: keeps)
        start = 0
    }

    /// Moves what is held to other memory, and overwrites all of the old one.
    private mutating func overwriteConsumed() {
        var rest: [UInt8] = []
        storage.withRawSpan(droppingFirst: start) { rest.append(copying: $0) }
        storage.overwrite()
        storage = rest
        start = 0
    }

    package func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        storage.withRawSpan(droppingFirst: start, body)
    }
}

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
