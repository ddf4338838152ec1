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
