internal import COpenSSL
internal import Glibc

/// What the secured connections of one loop share: the plaintext of the read that was decrypted, and
/// the bytes that are to be sent.
///
/// One connection at a time uses them, so an idle connection has no buffers of its own here.
@safe
package final class TLSBuffers {
    /// What the BIO of each connection reads from and writes to.
    let exchange: UnsafeMutablePointer<copenssl_exchange>
    private let plaintext: UnsafeMutableRawPointer
    private let plaintextCapacity: Int
    private var plaintextByteCount = 0

    /// Buffers for reads of at most that many bytes.
    package init(readByteCount: Int) {
        // A read may end a record of which the connection has all but the last byte.
        plaintextCapacity = readByteCount + TLSLimits.recordByteCount
        unsafe plaintext = .allocate(byteCount: plaintextCapacity, alignment: 64)
        unsafe exchange = .allocate(capacity: 1)
        unsafe exchange.initialize(to: copenssl_exchange())
    }

    deinit {
        overwrite()
        unsafe free(exchange.pointee.output)
        unsafe exchange.deallocate()
        unsafe plaintext.deallocate()
    }

    /// Calls `body` with the bytes that are to be sent, and forgets them.
    package func takeOutput(_ body: (RawSpan) -> Void) {
        let count = unsafe exchange.pointee.output_count
        guard count > 0 else { return }
        unsafe exchange.pointee.output_count = 0
        let bytes = unsafe UnsafeRawBufferPointer(start: exchange.pointee.output, count: count)
        unsafe body(bytes.bytes)
    }

    package func withPlaintext<Result>(_ body: (RawSpan) -> Result) -> Result {
        let bytes = unsafe UnsafeRawBufferPointer(start: plaintext, count: plaintextByteCount)
        return unsafe body(bytes.bytes)
    }

    /// Overwrites the plaintext, so that no secret of it stays in memory.
    package func overwrite() { unsafe explicit_bzero(plaintext, plaintextCapacity) }

    /// Lets `read` decrypt `ciphertext`: it is called with room for plaintext until it returns 0 or
    /// all is decrypted.
    func decrypt(
        _ ciphertext: RawSpan,
        _ read: (UnsafeMutableRawBufferPointer) throws(TLSError) -> Int,
        isComplete: () -> Bool
    ) throws(TLSError) {
        plaintextByteCount = 0
        // The bytes are used inside this call only.
        unsafe try ciphertext.withUnsafeBytes { (bytes) throws(TLSError) in
            unsafe exchange.pointee.input = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe exchange.pointee.input_count = bytes.count
            defer {
                unsafe exchange.pointee.input = nil
                unsafe exchange.pointee.input_count = 0
            }
            while true {
                let room = unsafe UnsafeMutableRawBufferPointer(
                    start: plaintext + plaintextByteCount,
                    count: plaintextCapacity - plaintextByteCount
                )
                let count = unsafe try read(room)
                plaintextByteCount += count
                if count == 0 || isComplete() { return }
            }
        }
    }

    /// Whether all bytes of the read that is decrypted were taken.
    var isInputTaken: Bool { unsafe exchange.pointee.input_count == 0 }
}

@available(*, unavailable)
extension TLSBuffers: Sendable {}

/// Every limit of TLS in one place, each with its reason.
package enum TLSLimits {
    /// The bytes of a peer's certificates: three of common size, many times over.
    package static let maximumPeerChainByteCount = 32 << 10
    /// The longest ClientHello without the certificate that a ticket of a client may hold: with a ticket
    /// and the keys of today it has less than 4 KiB.
    package static let maximumHelloByteCount = 16 << 10
    /// The certificates between a peer's and one that is trusted.
    package static let maximumPeerChainDepth: Int32 = 6
    /// How long a client may resume a session: its certificate is not checked against a new list of
    /// authorities meanwhile, except that a new context knows no old session.
    package static let ticketSeconds = 3_600
    /// The names of a client's certificate that are looked at.
    package static let maximumIdentityCount = 16
    /// The longest name of a certificate that can be an identity: the longest DNS name.
    package static let maximumIdentityByteCount = 253
    /// The longest plaintext of a record, by the protocol.
    package static let recordByteCount = 16 << 10
    /// The plaintext that is encrypted before it is sent: four records, so that a long answer does
    /// not exist twice.
    package static let encryptedByteCount = 64 << 10
}
