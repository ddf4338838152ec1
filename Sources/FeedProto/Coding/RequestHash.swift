internal import FeedSpans

// Distinguishes a request from another one under the same sequence. The hashes are kept for as long
// as services remember calls, over restarts and new versions: they must not change.
//
// A call has two hashes. The hash of its content is recorded. It is computed over the call as
// protobuf-c writes it: fields in the order of their numbers, defaults left out, unknown fields
// last. A call for a user has a hash of that and of the user. Version 0.1 recorded the hash of the
// bytes that arrived. The two are equal for each call that an encoder has written in that form, as
// nearly all do. So a service looks for both.

extension CastVoteRequest {
    /// A hash of 32 bits of the vote's content, the same for any encoding.
    package var requestHash: UInt32 {
        var hash = RequestHash(field: 40)
        hash.combine(postID.rawValue)
        hash.combine(UInt64(truncatingIfNeeded: direction.rawValue))
        return hash.finished()
    }
}

extension VoteFrame {
    /// A hash of 32 bits of the vote's content and of the user that it is for.
    package var requestHash: UInt32 { RequestHash.ofCall(vote.requestHash, for: actingUserID) }
}

extension VoteBatch {
    /// The hash of the call's content and of its bytes.
    ///
    /// The two are equal, because a scanned batch is in protobuf-c's form.
    ///
    /// `bytes` is what the batch was scanned from. O(bytes).
    package func requestHash(in bytes: RawSpan) -> UInt32 {
        var hash = RequestHash(field: 0)
        hash.combine(41)
        hash.combine(bytes: bytes, content)
        return RequestHash.ofCall(hash.finished(), for: actingUserID)
    }
}

extension ClientFrame {
    /// A hash of 32 bits of the call's bytes, without the envelope, as version 0.1 recorded it.
    ///
    /// For a vote it is a hash of its content. `body` is what the frame was decoded from. O(bytes).
    package func requestHash(of body: RawSpan) -> UInt32 {
        if case .castVote(let vote) = request {
            return RequestHash.ofCall(vote.requestHash, for: actingUserID)
        }
        var hash = RequestHash(field: 0)
        var offset = 0
        while let field = WireField(in: body, at: &offset) {
            // The call is the message in a field of the oneof, or in several to be merged.
            guard field.number >= 10, let content = field.content else { continue }
            hash.combine(field.number)
            hash.combine(bytes: body, content)
        }
        return RequestHash.ofCall(hash.finished(), for: actingUserID)
    }
}

/// Mixes numbers into 64 bits, with the multiplications of splitmix64's finisher.
struct RequestHash {
    private var state: UInt64

    /// A hash of a call in a field of the oneof.
    init(field: UInt64) { state = field &* 0x9E37_79B9_7F4A_7C15 }

    @inline(__always)
    mutating func combine(_ value: UInt64) {
        state = (state ^ value) &* 0xBF58_476D_1CE4_E5B9
        state ^= state &>> 32
    }

    /// Mixes bytes in, eight at a time, and their number.
    mutating func combine(bytes: RawSpan, _ range: Range<Int>) {
        precondition(range.upperBound <= bytes.byteCount, "The content lies within the body.")
        combine(UInt64(range.count))
        var offset = range.lowerBound
        while range.upperBound - offset >= 8 {
            let word = unsafe bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset,
                as: UInt64.self
            )
            combine(UInt64(littleEndian: word))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < range.upperBound {
            let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
            rest = rest << 8 | UInt64(byte)
            offset += 1
        }
        combine(rest)
    }

    /// The hash of a call with this content that a service makes for a user; 0 is none.
    @inline(__always)
    static func ofCall(_ content: UInt32, for actingUserID: UserID) -> UInt32 {
        guard actingUserID != 0 else { return content }
        var hash = RequestHash(field: 5)
        hash.combine(UInt64(content))
        hash.combine(actingUserID.rawValue)
        return hash.finished()
    }

    func finished() -> UInt32 {
        var mixed = (state ^ state &>> 29) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed &>> 32
        return UInt32(truncatingIfNeeded: mixed)
    }
}

/// One field at the top of a message.
private struct WireField {
    let number: UInt64
    /// Where its bytes lie; nil for a number.
    let content: Range<Int>?

    /// Reads the field at an offset and moves the offset behind it; nil at the end, or if there
    /// is no field.
    init?(in bytes: RawSpan, at offset: inout Int) {
        guard offset < bytes.byteCount, let tag = Self.varint(in: bytes, at: &offset) else {
            return nil
        }
        number = tag >> 3
        let rest = bytes.byteCount - offset
        switch tag & 7 {
        case 0:
            guard Self.varint(in: bytes, at: &offset) != nil else { return nil }
            content = nil
        case 1 where rest >= 8:
            offset += 8
            content = nil
        case 5 where rest >= 4:
            offset += 4
            content = nil
        case 2:
            guard let count = Self.varint(in: bytes, at: &offset),
                count <= UInt64(bytes.byteCount - offset)
            else { return nil }
            content = offset..<offset + Int(count)
            offset += Int(count)
        default:
            return nil
        }
    }

    private static func varint(in bytes: RawSpan, at offset: inout Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard offset < bytes.byteCount else { return nil }
            let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
            offset += 1
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        return nil
    }
}

extension RequestHash {
    /// The hash of a call in a field of the oneof, whose bytes are in protobuf-c's form.
    static func ofContent(_ bytes: [UInt8], field: UInt32) -> UInt32 {
        var hash = RequestHash(field: 0)
        hash.combine(UInt64(field))
        unsafe hash.combine(bytes: bytes.span.bytes, bytes.indices)
        return hash.finished()
    }
}
