#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes the fields of one frame into room that was reserved for it, for messages that justify a
/// path around the general encoder.
///
/// The bytes are the same, without an intermediate C message.
@safe struct FieldWriter: ~Copyable {
    /// The most bytes that a number takes with its tag.
    static var numberByteCount: Int { 11 }
    /// The bytes of a message's tag and length.
    static var messageHeadByteCount: Int { 3 }

    private let room: UnsafeMutableRawPointer
    private let roomByteCount: Int
    /// The bytes written.
    private(set) var byteCount: Int

    /// A frame to be written into reserved room, after its header.
    @inline(__always)
    init(room: UnsafeMutableRawPointer, byteCount: Int) {
        precondition(byteCount >= FrameHeader.byteCount, "There is room for a header.")
        unsafe self.room = unsafe room
        roomByteCount = byteCount
        self.byteCount = FrameHeader.byteCount
    }

    /// Writes a number; zero is left out, as everywhere in proto3.
    @inline(__always)
    mutating func varint(tag: UInt8, _ value: UInt64) {
        guard value != 0 else { return }
        precondition(roomByteCount &- byteCount >= Self.numberByteCount, "There is room left.")
        let place = unsafe room + byteCount
        unsafe place.storeBytes(of: tag, as: UInt8.self)
        guard value >= 0x80 else {
            unsafe (place + 1).storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
            byteCount &+= 2
            return
        }
        guard value < 1 &<< 56 else {
            byteCount &+= unsafe Self.writeLong(value, to: place + 1) &+ 1
            return
        }
        // All bytes but the last announce another one; the excess stored behind them is
        // overwritten. A byte begins every seven bits, and 9/64 stands for a seventh, exactly
        // enough up to 64 bits.
        let highestBit = 63 &- UInt64(truncatingIfNeeded: value.leadingZeroBitCount)
        let followCount = (highestBit &* 9 &+ 9) &>> 6
        let follows = 0x8080_8080_8080_8080 & ((1 as UInt64) &<< (8 &* followCount) &- 1)
        unsafe (place + 1).storeBytes(
            of: (value.splittingSevens | follows).littleEndian,
            as: UInt64.self
        )
        byteCount &+= Int(truncatingIfNeeded: followCount) &+ 2
    }

    /// Begins a message with a tag of two bytes; it has at most 127 bytes.
    ///
    /// - Returns: The place to pass to `endMessage(at:)`.
    @inline(__always)
    mutating func beginMessage(tag first: UInt8, _ second: UInt8) -> Int {
        precondition(roomByteCount - byteCount >= Self.messageHeadByteCount, "There is room left.")
        unsafe (room + byteCount).storeBytes(of: first, as: UInt8.self)
        unsafe (room + byteCount + 1).storeBytes(of: second, as: UInt8.self)
        byteCount &+= Self.messageHeadByteCount
        return byteCount
    }

    /// Begins a message with a tag of one byte; it has at most 127 bytes.
    ///
    /// - Returns: The place to pass to `endMessage(at:)`.
    @inline(__always)
    mutating func beginMessage(tag: UInt8) -> Int {
        precondition(roomByteCount &- byteCount >= 2, "There is room left.")
        unsafe (room + byteCount).storeBytes(of: tag, as: UInt8.self)
        byteCount &+= 2
        return byteCount
    }

    /// Begins a message with a tag of two bytes, and leaves two bytes for its length.
    ///
    /// - Returns: The place to pass to `endLongMessage(at:)`.
    mutating func beginLongMessage(tag first: UInt8, _ second: UInt8) -> Int {
        let start = beginMessage(tag: first, second)
        byteCount &+= 1
        return start &+ 1
    }

    /// Ends a message that `beginLongMessage` began; moves it where its length does not take two
    /// bytes.
    ///
    /// A message of 16,384 bytes or more needs room for one more byte.
    mutating func endLongMessage(at start: Int) {
        let length = byteCount - start
        precondition(start > 2 && length >= 0 && length < 1 << 21, "A long message was begun.")
        let lengthByteCount = Self.byteCount(of: UInt64(length))
        let place = start - 2 + lengthByteCount
        precondition(roomByteCount - place >= length, "There is room left.")
        if place != start { unsafe memmove(room + place, room + start, length) }
        byteCount = place + length
        _ = unsafe Self.writeLength(length, to: room + (start - 2))
    }

    /// Writes the tag, of one byte, and the length of a message of fewer than 2^21 bytes.
    mutating func head(tag: UInt8, length: Int) {
        precondition(roomByteCount - byteCount >= 4 && length < 1 << 21, "There is room left.")
        unsafe (room + byteCount).storeBytes(of: tag, as: UInt8.self)
        byteCount += unsafe 1 + Self.writeLength(length, to: room + (byteCount + 1))
    }

    /// Writes `count` bytes, which `pack` puts into the place that it gets.
    mutating func bytes(count: Int, _ pack: (UnsafeMutablePointer<UInt8>) -> Void) {
        precondition(count >= 0 && roomByteCount - byteCount >= count, "There is room left.")
        unsafe pack((room + byteCount).assumingMemoryBound(to: UInt8.self))
        byteCount += count
    }

    /// Writes a length; returns its number of bytes.
    private static func writeLength(_ length: Int, to place: UnsafeMutableRawPointer) -> Int {
        let lengthByteCount = byteCount(of: UInt64(length))
        for number in 0..<lengthByteCount {
            let follows = number + 1 < lengthByteCount ? 0x80 : 0
            unsafe (place + number)
                .storeBytes(of: UInt8(length >> (7 * number) & 0x7F | follows), as: UInt8.self)
        }
        return lengthByteCount
    }

    /// How many bytes a number takes without a tag.
    static func byteCount(of value: UInt64) -> Int {
        (70 - (value | 1).leadingZeroBitCount) / 7
    }

    /// Ends the message that began at a place.
    @inline(__always)
    mutating func endMessage(at start: Int) {
        let length = byteCount - start
        precondition(start > 0 && length >= 0 && length < 128, "A short message was begun.")
        let place = unsafe room + (start - 1)
        unsafe place.storeBytes(of: UInt8(truncatingIfNeeded: length), as: UInt8.self)
    }

    /// Writes the header; returns the length of the frame's body.
    @inline(__always)
    consuming func end() -> Int {
        let length = byteCount - FrameHeader.byteCount
        unsafe room.storeBytes(
            of: UInt32(truncatingIfNeeded: length).bigEndian,
            as: UInt32.self
        )
        return length
    }

    /// Writes a number of more than 56 bits; returns its length of 9 or 10 bytes.
    private static func writeLong(_ value: UInt64, to place: UnsafeMutableRawPointer) -> Int {
        let low = (value & (1 &<< 56 &- 1)).splittingSevens | 0x8080_8080_8080_8080
        unsafe place.storeBytes(of: low.littleEndian, as: UInt64.self)
        let high = UInt8(truncatingIfNeeded: value &>> 56)
        unsafe (place + 8).storeBytes(of: high, as: UInt8.self)
        guard high >= 0x80 else { return 9 }
        unsafe (place + 9).storeBytes(of: 1, as: UInt8.self)
        return 10
    }
}
