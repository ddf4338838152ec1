package import FeedTLS
package import FeedTransport

/// The secured addresses of a service, and what secures them.
package struct ServiceTLS: Sendable {
    /// The addresses to listen on for clients; none if the operator's address alone is secured.
    package var addresses: [SocketAddress]
    /// The files, which are read again when an operator asks.
    package var files: TLSServerFiles
    /// The context that was made of them.
    package var context: TLSContext
    /// The operator's address; nil if it is not secured.
    package var admin: Admin?

    /// The operator's address, secured by the same files.
    package struct Admin: Sendable {
        /// The address.
        package var address: SocketAddress
        /// The files as a server of HTTP takes them.
        package var files: TLSServerFiles
        /// The context that was made of them.
        package var context: TLSContext

        /// Secures an address with the files of the service.
        package init(_ address: SocketAddress, _ files: TLSServerFiles) throws(TLSFileError) {
            self.address = address
            self.files = files
            self.files.servesHTTP = true
            context = try .server(self.files)
        }
    }

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
    /// Whether there is a way to prove who calls.
    var asksWhoCalls: Bool { serviceKeys != nil || tls?.asksForCertificates == true }

    /// The addresses that other machines reach and where nobody has to prove who calls, or whose
    /// traffic is not encrypted; `--insecure` allows them.
    package var insecureAddresses: [SocketAddress] {
        let secured = asksWhoCalls ? [] : tls?.addresses ?? []
        return (addresses + secured).filter { !$0.isLoopback }
    }
}
