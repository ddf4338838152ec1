/// The files of a certificate in PEM: the certificate, then those that it depends on, and its key.
package struct TLSCertificateFiles: Sendable, Hashable {
    /// The certificate, and the certificates between it and the one that peers trust.
    package var certificatePath: String
    /// The private key, which only its owner may read.
    package var keyPath: String

    /// The files of one certificate.
    package init(certificatePath: String, keyPath: String) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
    }
}

/// The files of a server.
package struct TLSServerFiles: Sendable, Hashable {
    /// The server's own certificate.
    package var certificate: TLSCertificateFiles
    /// The certificates that sign those of clients; nil asks clients for none.
    package var clientAuthorityPath: String?
    /// Whether the server speaks HTTP/1.1, to which a client may come without a certificate too, and not
    /// the protocol of the feed.
    package var servesHTTP = false

    /// The files of a server.
    package init(certificate: TLSCertificateFiles, clientAuthorityPath: String? = nil) {
        self.certificate = certificate
        self.clientAuthorityPath = clientAuthorityPath
    }
}

/// The files of a client.
package struct TLSClientFiles: Sendable, Hashable {
    /// The certificates that sign those of servers; nil takes those of the system.
    package var authorityPath: String?
    /// The client's own certificate, for servers that ask for one.
    package var certificate: TLSCertificateFiles?

    /// The files of a client.
    package init(authorityPath: String? = nil, certificate: TLSCertificateFiles? = nil) {
        self.authorityPath = authorityPath
        self.certificate = certificate
    }
}
