/// Every limit of TLS in one place, each with its reason.
package enum TLSLimits {
    /// The longest file of certificates or of a key: a system's store has some 250 KiB.
    package static let maximumFileByteCount = 4 << 20
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
