/// Who calls on a connection: a device that named itself in Hello, or nobody in particular.
struct Caller {
    /// The 16 bytes of the client_id, as two numbers; absent on an anonymous connection.
    var device: Device?

    /// A client_id.
    struct Device: Equatable {
        var high: UInt64
        var low: UInt64

        /// Reads a client_id; nil unless it has 16 bytes.
        init?(bytes: [UInt8]) {
            guard bytes.count == Self.byteCount else { return nil }
            high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
            low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// The length of a client_id.
        static let byteCount = 16
    }
}
