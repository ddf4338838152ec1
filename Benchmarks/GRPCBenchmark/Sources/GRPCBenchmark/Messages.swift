import GRPCCore

/// `CastVoteRequest`, field 1 and 2.
struct VoteRequest: Sendable, Message {
    var postID: UInt64 = 0
    var direction: UInt64 = 0

    var fields: [UInt64] { [postID, direction] }

    init(fields: [UInt64]) { (postID, direction) = (fields[0], fields[1]) }

    init(postID: UInt64, direction: UInt64) {
        self.postID = postID
        self.direction = direction
    }
}

/// `CastVoteResponse`, field 1 to 4; the score is not negative, as all votes are up.
struct VoteResponse: Sendable, Message {
    var postID: UInt64 = 0
    var upvoteCount: UInt64 = 0

    var fields: [UInt64] { [postID, upvoteCount, upvoteCount] }

    init(fields: [UInt64]) { (postID, upvoteCount) = (fields[0], fields[2]) }

    init(postID: UInt64, upvoteCount: UInt64) {
        self.postID = postID
        self.upvoteCount = upvoteCount
    }
}

/// A message whose fields 1, 2 and so on are varints.
protocol Message {
    var fields: [UInt64] { get }

    /// Gets four fields; those that are absent are 0.
    init(fields: [UInt64])
}

/// The bytes of protobuf by hand: less work than generated code does, so it flatters gRPC.
struct Coding<Value: Message>: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: Value) -> Bytes {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        for (place, value) in message.fields.enumerated() where value != 0 {
            bytes.append(UInt8(place + 1) << 3)
            var rest = value
            while rest > 0x7f {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        return Bytes(bytes)
    }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Value {
        var fields: [UInt64] = [0, 0, 0, 0]
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while let tag = rest.popFirst() {
                let place = Int(tag >> 3) - 1
                guard tag & 7 == 0, fields.indices.contains(place) else {
                    throw RPCError(code: .internalError, message: "A field is unknown.")
                }
                var (value, shift) = (UInt64(0), UInt64(0))
                while let byte = rest.popFirst() {
                    value |= UInt64(byte & 0x7f) << shift
                    shift += 7
                    if byte < 0x80 { break }
                }
                fields[place] = value
            }
        }
        return Value(fields: fields)
    }
}
