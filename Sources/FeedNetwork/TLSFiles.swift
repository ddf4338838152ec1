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
    /// The certificates that sign those of servers; nil takes those of the system.
    package var authorityPath: String?
    /// The client's own certificate, for servers that ask for one.
    package var certificate: TLSCertificateFiles?

    package init(authorityPath: String? = nil, certificate: TLSCertificateFiles? = nil) {
        self.authorityPath = authorityPath
        self.certificate = certificate
    }
}
