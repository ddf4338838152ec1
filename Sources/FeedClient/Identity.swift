#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
        guard let bytes = [UInt8](hexadecimal: description) else { return nil }
        self.init(bytes: bytes)
    }

    /// The 32 hexadecimal digits to store it by.
    public var description: String { bytes.hexadecimal }
}

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
        guard let bytes = [UInt8](hexadecimal: text) else { return nil }
        self.init(bytes: bytes)
    }

    /// Reads a file with 64 hexadecimal digits, as `feed-service new-service-key` writes it; nil if
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
    public var hexadecimal: String { bytes.hexadecimal }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// That there is a secret.
    public var description: String { "Secret" }
    /// That there is a secret.
    public var debugDescription: String { description }
    /// Nothing: a dump shows no bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [UInt8] {
    /// The bytes of hexadecimal digits, two a byte; nil of any other text.
    fileprivate init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        self = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            append(UInt8(high << 4 | low))
        }
    }

    package var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
