/// The files of a certificate in PEM: the certificate, then those that it depends on, and its key.
package struct TLSCertificateFiles: Sendable, Hashable {
    /// The certificate, and the certificates between it and the one that peers trust.
    package var certificatePath: String
    /// The private key, which only its owner may read.
    package var keyPath: String

    package init(certificatePath: String, keyPath: String) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
    }
}

package struct TLSClientFiles: Sendable, Hashable {
    /// The certificates that sign those of servers.
    package enum Authority: Sendable, Hashable {
        case system
        case file(String)
        /// The text of such a file.
        case pem([UInt8])
    }

    package var authority: Authority
    /// The client's own certificate, for servers that ask for one.
    package var certificate: TLSCertificateFiles?

    package init(authority: Authority, certificate: TLSCertificateFiles? = nil) {
        self.authority = authority
        self.certificate = certificate
    }

    /// The files of a client that trusts a file of certificates; nil takes those of the system.
    package init(authorityPath: String? = nil, certificate: TLSCertificateFiles? = nil) {
        self.init(authority: authorityPath.map(Authority.file) ?? .system, certificate: certificate)
    }

    /// The certificates to trust; nil if they are those of the system.
    package func readAuthority() throws(TLSFileError) -> PEMBytes? {
        switch authority {
        case .system: nil
        case .file(let path): try PEMBytes(path, isPrivate: false)
        case .pem(let bytes): PEMBytes(bytes, name: "The authority in memory")
        }
    }
}
