import CFeedProto

// Builds C messages from values. Each value is in memory already, as a Swift value of about the
// same size, so a failure to allocate traps as it does for any Swift array.
extension MessageArena {
    /// Memory for a number of values; traps where there is none.
    func require<Value>(_ type: Value.Type, count: Int) -> UnsafeMutablePointer<Value> {
        guard let memory = unsafe allocate(type, count: count) else {
            fatalError("Out of memory for a message to encode.")
        }
        return unsafe memory
    }

    /// A copy of a text's UTF-8.
    func text(_ text: String) -> ProtobufCBinaryData {
        guard !text.isEmpty else { return unsafe ProtobufCBinaryData() }
        var text = text
        return text.withUTF8 { utf8 in unsafe copy(utf8) }
    }

    /// A copy of bytes.
    func bytes(_ bytes: [UInt8]) -> ProtobufCBinaryData {
        guard !bytes.isEmpty else { return unsafe ProtobufCBinaryData() }
        return unsafe bytes.withUnsafeBufferPointer { bytes in unsafe copy(bytes) }
    }

    /// A submessage; nil stays absent.
    func message<Message: WireMessage>(
        _ value: Message?
    ) -> UnsafeMutablePointer<Message.CMessage>? {
        guard let value else { return nil }
        let message = unsafe require(Message.CMessage.self, count: 1)
        unsafe Message.initialize(message)
        unsafe value.write(to: message, self)
        return unsafe message
    }

    /// A submessage without fields.
    func empty<CMessage>(
        _ initialize: (UnsafeMutablePointer<CMessage>?) -> Void
    ) -> UnsafeMutablePointer<CMessage> {
        let message = unsafe require(CMessage.self, count: 1)
        unsafe initialize(message)
        return unsafe message
    }

    /// The submessages of a repeated field.
    func messages<Message: WireMessage>(
        _ values: [Message]
    ) -> UnsafeMutablePointer<UnsafeMutablePointer<Message.CMessage>?>? {
        guard !values.isEmpty else { return nil }
        let messages = unsafe require(
            UnsafeMutablePointer<Message.CMessage>?.self,
            count: values.count
        )
        for (index, value) in values.enumerated() {
            unsafe (messages + index).initialize(to: message(value))
        }
        return unsafe messages
    }

    /// The numbers of a repeated field.
    func numbers<Number: BitwiseCopyable>(
        _ values: [Number]
    ) -> UnsafeMutablePointer<Number>? {
        guard !values.isEmpty else { return nil }
        let numbers = unsafe require(Number.self, count: values.count)
        unsafe values.withUnsafeBufferPointer { values in
            guard let base = values.baseAddress else { return }
            unsafe numbers.initialize(from: base, count: values.count)
        }
        return unsafe numbers
    }

    private func copy(_ bytes: UnsafeBufferPointer<UInt8>) -> ProtobufCBinaryData {
        guard let base = bytes.baseAddress else { return unsafe ProtobufCBinaryData() }
        let copy = unsafe require(UInt8.self, count: bytes.count)
        unsafe copy.initialize(from: base, count: bytes.count)
        return unsafe ProtobufCBinaryData(len: bytes.count, data: copy)
    }
}
