/// Reads the lengths that a client announces for its messages, as long as they are not encrypted.
///
/// They are those of its ClientHello, or of both where the server asks for another (RFC 8446, 4 and 5.1).
///
/// OpenSSL takes memory for a whole message once its length is announced, 128 KiB for a ClientHello, and a
/// client needs to send nine bytes for it. The later messages have limits of their own (``TLSLimits``).
struct HelloScanner {
    private static let handshakeRecord: UInt64 = 22
    /// A change of the cipher, which means nothing, and an alert.
    private static let otherRecords: ClosedRange<UInt64> = 20...21
    private static let recordHeaderByteCount = 5
    private static let messageHeaderByteCount = 4

    /// The bytes of a header, of which the first ones may have come in an earlier read.
    private struct Header {
        private var value: UInt64 = 0
        private var count = 0

        /// Adds a byte; the whole header where it was the last one of so many.
        mutating func add(_ byte: UInt8, of byteCount: Int) -> UInt64? {
            value = value << 8 | UInt64(byte)
            count += 1
            guard count == byteCount else { return nil }
            defer { self = Header() }
            return value
        }
    }

    private var recordHeader = Header()
    private var messageHeader = Header()
    private var isHandshake = false
    /// The bytes of the record that are to come.
    private var recordRest = 0
    /// The bytes of the message that are to come.
    private var messageRest = 0
    /// Whether all that follows is encrypted, or no TLS.
    private var isOver = false

    /// The length of the first message that is longer than a limit; nil where none is.
    ///
    /// O(bytes of headers).
    ///
    /// - Parameters:
    ///   - limit: The longest message.
    ///   - bytes: What follows the bytes of the calls before.
    /// - Returns: The announced length.
    mutating func lengthOver(_ limit: Int, in bytes: Span<UInt8>) -> Int? {
        var place = 0
        while place < bytes.count, !isOver {
            if recordRest > 0, messageRest > 0 || !isHandshake {
                let skipped = min(
                    recordRest,
                    isHandshake ? messageRest : .max,
                    bytes.count - place
                )
                place += skipped
                recordRest -= skipped
                if isHandshake { messageRest -= skipped }
                continue
            }
            let byte = bytes[place]
            place += 1
            if recordRest == 0 {
                beginRecord(with: byte)
            } else {
                recordRest -= 1
                guard let header = messageHeader.add(byte, of: Self.messageHeaderByteCount) else {
                    continue
                }
                messageRest = Int(header & 0xff_ffff)
                if messageRest > limit { return messageRest }
            }
        }
        return nil
    }

    private mutating func beginRecord(with byte: UInt8) {
        guard let header = recordHeader.add(byte, of: Self.recordHeaderByteCount) else { return }
        let type = header >> 32
        recordRest = Int(header & 0xffff)
        isHandshake = type == Self.handshakeRecord
        isOver = !isHandshake && !Self.otherRecords.contains(type)
    }
}
