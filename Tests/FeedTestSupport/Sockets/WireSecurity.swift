/// What encrypts the bytes between a ``WireClient`` and its socket.
package protocol WireSecurity {
    /// The bytes for the peer.
    func encrypt(_ plaintext: [UInt8]) throws -> [UInt8]

    /// What bytes of the peer say; empty where the rest of a record has not come.
    func decrypt(_ ciphertext: [UInt8]) throws -> [UInt8]
}
