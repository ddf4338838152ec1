internal import FoundationEssentials

/// 32 secret bytes that say who a client is: a key of a service, or the token of a session.
///
/// Its description shows none of them, so that no log has them by accident.
public struct Secret: Sendable, Hashable {
    /// The length of every secret.
    public static var byteCount: Int { 32 }

    /// The bytes as they are sent.
    public let bytes: [UInt8]

    /// A secret that was received or stored; nil unless it has 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits.
    public init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 2 * Self.byteCount else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        self.bytes = bytes
    }

    /// Reads a file with 64 hexadecimal digits, as `feed-service new-service-key` writes it; nil where
    /// it cannot be read or has anything else.
    public init?(file path: String) {
        guard let data = FileManager.default.contents(atPath: path),
            let words = String(validating: data, as: UTF8.self)?.split(
                whereSeparator: \.isWhitespace
            ),
            words.count == 1
        else { return nil }
        self.init(hexadecimal: words[0])
    }

    /// The 64 hexadecimal digits to store it by.
    public var hexadecimal: String {
        bytes.map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// That there is a secret.
    public var description: String { "Secret" }
    /// That there is a secret.
    public var debugDescription: String { description }
    /// Nothing: a dump shows no bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
