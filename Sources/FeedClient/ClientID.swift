/// Identifies a client to the service as a device; nothing proves the identity.
///
/// Make one at random once, keep it permanently, and pass it in at each start. The service keeps
/// ballots, and all else that it remembers of a caller, under this id.
public struct ClientID: Sendable, Hashable {
    /// The bytes of every id.
    public static var byteCount: Int { 16 }

    /// The id as it is sent.
    public let bytes: [UInt8]

    /// A new id from the system's generator, never from a seed: two clients would be one.
    public init() {
        var generator = SystemRandomNumberGenerator()
        bytes = (0..<Self.byteCount).map { _ in
            UInt8.random(in: .min ... .max, using: &generator)
        }
    }

    /// A stored id; nil unless it has 16 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}

extension ClientID: LosslessStringConvertible {
    /// Reads 32 hexadecimal digits.
    public init?(_ description: String) {
        let digits = description.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 2 * Self.byteCount else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        self.bytes = bytes
    }

    /// The 32 hexadecimal digits to store it by.
    public var description: String {
        bytes.map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}
