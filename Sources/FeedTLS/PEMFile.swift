internal import COpenSSL
internal import FeedNetwork

/// Certificates or a key in PEM, as OpenSSL has them.
struct PEMFile {
    private var pem: PEMBytes

    init(_ pem: PEMBytes) { self.pem = pem }

    /// Reads a file; ``SecretFile`` must let it pass if it is to be private.
    init(_ path: String, isPrivate: Bool) throws(TLSFileError) {
        pem = try PEMBytes(path, isPrivate: isPrivate)
    }

    var path: String { pem.name }

    /// Calls `body` with the certificates, in their order; it does not keep them without a reference.
    func withCertificates<Result>(
        _ body: ([OpaquePointer]) throws(TLSFileError) -> Result
    ) throws(TLSFileError) -> Result {
        var certificates: [OpaquePointer] = unsafe []
        defer {
            for index in unsafe certificates.indices { unsafe X509_free(certificates[index]) }
        }
        let isWhole = unsafe withBIO { bio in
            while let next = unsafe copenssl_read_certificate(bio) {
                unsafe certificates.append(next)
            }
            // The end of the file is no fault, and anything else is.
            return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
        }
        OpenSSLErrors.clear()
        guard isWhole, unsafe !certificates.isEmpty else { throw .noCertificate(path) }
        return unsafe try body(certificates)
    }

    /// Calls `body` with the private key, then overwrites the bytes of the file.
    mutating func withKey<Result>(
        _ body: (OpaquePointer) throws(TLSFileError) -> Result
    ) throws(TLSFileError) -> Result {
        let key = unsafe withBIO { unsafe copenssl_read_key($0) }
        pem.overwrite()
        OpenSSLErrors.clear()
        guard let key = unsafe key else { throw .noKey(path) }
        defer { unsafe EVP_PKEY_free(key) }
        return unsafe try body(key)
    }

    private func withBIO<Result>(_ body: (OpaquePointer?) -> Result) -> Result {
        OpenSSLErrors.clear()
        return unsafe pem.bytes.withUnsafeBytes { bytes in
            let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { unsafe BIO_free(bio) }
            return unsafe body(bio)
        }
    }
}
