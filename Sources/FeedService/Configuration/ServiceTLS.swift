package import FeedTLS
package import FeedTransport

/// The secured addresses of a service, and what secures them.
package struct ServiceTLS: Sendable {
    /// The addresses to listen on.
    package var addresses: [SocketAddress]
    /// The files, which are read again when an operator asks.
    package var files: TLSServerFiles
    /// The context that was made of them.
    package var context: TLSContext

    /// Secures addresses with a context.
    package init(addresses: [SocketAddress], files: TLSServerFiles, context: TLSContext) {
        self.addresses = addresses
        self.files = files
        self.context = context
    }

    /// Whether clients must show a certificate.
    package var asksForCertificates: Bool { files.clientAuthorityPath != nil }
}

extension ServiceConfiguration {
    /// The addresses that other machines reach and where nobody has to prove who calls, or whose
    /// traffic is not encrypted; `--insecure` allows them.
    package var insecureAddresses: [SocketAddress] {
        let asksNobody = serviceKeys == nil && tls?.asksForCertificates != true
        let secured = asksNobody ? tls?.addresses ?? [] : []
        return (addresses + secured).filter { !$0.isLoopback }
    }
}
