#if canImport(CFeedProto)
import CFeedProto

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A message of the library that protobuf-c knows as a C struct.
protocol WireMessage {
    /// The struct that protoc-c made of the message; its first member is its `ProtobufCMessage`.
    associatedtype CMessage

    /// Sets a C struct to the empty message; protobuf-c refuses one that was only zeroed.
    static func initialize(_ message: UnsafeMutablePointer<CMessage>)

    /// Copies everything out of a C struct.
    init(_ message: UnsafeMutablePointer<CMessage>, _ reader: WireReader) throws(MessageError)

    /// Copies everything into an empty C struct; texts and submessages go into the arena.
    func write(to message: UnsafeMutablePointer<CMessage>, _ arena: borrowing MessageArena)
}

/// Copies values out of the C structs that protobuf-c made of one frame.
struct WireReader {
    /// The frame's length, for errors.
    let byteCount: Int
    /// The frame's id, for errors.
    let frameID: UInt64

    /// A text, which protobuf-c has checked neither for UTF-8 nor for NUL.
    func text(_ data: ProtobufCBinaryData, _ field: StaticString) throws(MessageError) -> String {
        guard unsafe data.len > 0, let base = unsafe data.data else { return "" }
        guard unsafe memchr(base, 0, data.len) == nil else {
            throw .badText(id: frameID, field: "\(field)")
        }
        do {
            let utf8 = unsafe Span(_unsafeStart: base, count: data.len)
            return try String(copying: UTF8Span(validating: utf8))
        } catch {
            throw .badText(id: frameID, field: "\(field)")
        }
    }

    /// A text that is kept secret, which is checked as each text is.
    func secret(
        _ data: ProtobufCBinaryData,
        _ field: StaticString
    ) throws(MessageError) -> SecretText {
        guard unsafe data.len > 0, let base = unsafe data.data else { return "" }
        let utf8 = unsafe Span(_unsafeStart: base, count: data.len)
        guard unsafe memchr(base, 0, data.len) == nil, (try? UTF8Span(validating: utf8)) != nil
        else { throw .badText(id: frameID, field: "\(field)") }
        return unsafe SecretText(validated: bytes(data))
    }

    /// Bytes without a meaning to the wire.
    func bytes(_ data: ProtobufCBinaryData) -> [UInt8] {
        guard unsafe data.len > 0, let base = unsafe data.data else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: base, count: data.len))
    }

    func numbers<Number: BitwiseCopyable>(
        _ numbers: UnsafeMutablePointer<Number>?,
        count: Int
    ) -> [Number] {
        guard let numbers = unsafe numbers else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: numbers, count: count))
    }

    func numbers<ID: Identifier>(_ numbers: UnsafeMutablePointer<UInt64>?, count: Int) -> [ID] {
        unsafe UnsafeBufferPointer(start: numbers, count: count).map(ID.init(rawValue:))
    }

    func message<Message: WireMessage>(
        _ message: UnsafeMutablePointer<Message.CMessage>?,
        _ field: StaticString
    ) throws(MessageError) -> Message? {
        guard let message = unsafe message else { return nil }
        return try unsafe required(message, at: { "\(field)" })
    }

    func messages<Message: WireMessage>(
        _ messages: UnsafeMutablePointer<UnsafeMutablePointer<Message.CMessage>?>?,
        count: Int,
        _ field: StaticString
    ) throws(MessageError) -> [Message] {
        var result: [Message] = []
        result.reserveCapacity(count)
        for index in 0..<count {
            guard let message = unsafe messages?[index] else { continue }
            try unsafe result.append(required(message, at: { "\(field)[\(index)]" }))
        }
        return result
    }

    /// The message of a frame's body, whose fields are named without their path.
    @inline(__always)
    func body<Message: WireMessage>(
        _ message: UnsafeMutablePointer<Message.CMessage>?
    ) throws(MessageError) -> Message {
        guard let message = unsafe message else { throw .malformed(byteCount: byteCount) }
        try unsafe rejectFieldZero(message)
        return try unsafe Message(message, self)
    }

    /// Rejects a message with a field of number 0, which is no valid protobuf.
    ///
    /// protobuf-c rejects it only if the tag is not padded with zeros.
    @inline(__always)
    func rejectFieldZero<CMessage>(
        _ message: UnsafeMutablePointer<CMessage>?
    ) throws(MessageError) {
        guard let message = unsafe message else { return }
        let base = unsafe UnsafeMutableRawPointer(message)
            .assumingMemoryBound(to: ProtobufCMessage.self)
        guard unsafe base.pointee.n_unknown_fields > 0 else { return }
        for index in 0..<Int(unsafe base.pointee.n_unknown_fields)
        where unsafe base.pointee.unknown_fields[index].tag == 0 {
            throw .malformed(byteCount: byteCount)
        }
    }

    private func required<Message: WireMessage>(
        _ message: UnsafeMutablePointer<Message.CMessage>,
        at path: () -> String
    ) throws(MessageError) -> Message {
        try unsafe rejectFieldZero(message)
        do {
            return try unsafe Message(message, self)
        } catch .badText(let id, let field) {
            throw .badText(id: id, field: "\(path()).\(field)")
        }
    }
}

// protobuf-c's enums are unsigned in Swift and hold any 32 bits from the wire.
extension WireEnum {
    @inline(__always)
    init(_ value: some RawRepresentable<UInt32>) {
        self.init(rawValue: Int32(bitPattern: value.rawValue))
    }

    @inline(__always)
    func cValue<CEnum: RawRepresentable<UInt32>>() -> CEnum {
        guard let value = CEnum(rawValue: UInt32(bitPattern: rawValue)) else {
            preconditionFailure("A C enum takes any number.")
        }
        return value
    }
}
#endif
