/// Why a frame's body is no message.
public enum MessageError: Error, Equatable {
    /// The bytes are no protobuf of the contract; the stream has no meaning any more.
    case malformed(byteCount: Int)
    /// The message would need more memory than a frame of the permitted length should.
    case tooManyFields(limitByteCount: Int)
    /// The process has no memory for the message.
    case outOfMemory
    /// A text is not UTF-8 or has a NUL in it; the frame is whole and can be answered.
    case badText(id: UInt64, field: String)
}

extension MessageError: CustomStringConvertible {
    /// What happened, with the actual value and the limit.
    public var description: String {
        switch self {
        case .malformed(let byteCount):
            "Frame of \(byteCount) bytes is not a message of the contract."
        case .tooManyFields(let limit):
            "Message needs more than \(limit) bytes of memory to decode."
        case .outOfMemory:
            "No memory to decode the message."
        case .badText(let id, let field):
            "Field \(field) of frame \(id) is not UTF-8 without NUL."
        }
    }
}
