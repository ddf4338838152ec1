/// A text that is kept secret, as a password: its UTF-8 in memory that can be overwritten.
///
/// A `String` keeps a short text in place, so each copy of it would be another one to overwrite. A
/// secret has no description that shows it: neither a message nor a line of the log does.
public struct SecretText: Sendable, Equatable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The bytes.
    public let utf8: [UInt8]

    /// The secret of a text.
    public init(_ text: String) { utf8 = Array(text.utf8) }

    /// The secret of a literal.
    public init(stringLiteral text: String) { self.init(text) }

    /// The secret of bytes that were found to be UTF-8.
    init(validated utf8: [UInt8]) { self.utf8 = utf8 }

    /// A word in place of the text.
    public var description: String { "(secret)" }

    /// The number of characters; O(bytes), without a copy of the text.
    package var characterCount: Int {
        guard #available(iOS 26, macOS 26, *) else {
            return String(decoding: utf8, as: UTF8.self).count
        }
        guard let text = try? UTF8Span(validating: utf8.span) else { return 0 }
        var characters = text.makeCharacterIterator()
        var count = 0
        while characters.skipForward() > 0 { count += 1 }
        return count
    }
}
