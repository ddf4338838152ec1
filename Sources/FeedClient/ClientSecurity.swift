package import FeedTLS
package import FeedTransport

/// The TLS of a client: one context for all of its connections, and the names that are checked.
package struct ClientSecurity: Sendable {
    /// The context of the files.
    package let context: TLSContext
    private let serverName: String?
    private let hosts: [Endpoint: String]

    /// Reads the files of a client's TLS.
    ///
    /// - Parameters:
    ///   - tls: The files, and the name of the service where it is another one than its host's.
    ///   - hosts: The hosts of the services, as the program has written them.
    /// - Throws: Where a file cannot be used.
    package init(_ tls: ClientTLS, hosts: [Endpoint: String] = [:]) throws(FeedClientError) {
        var certificate: TLSCertificateFiles?
        switch (tls.certificatePath, tls.keyPath) {
        case (let path?, let key?):
            certificate = TLSCertificateFiles(certificatePath: path, keyPath: key)
        case (nil, nil): break
        default:
            throw .cannotConnect(reason: "A client's certificate and its key go together.")
        }
        do throws(TLSFileError) {
            context = try .client(
                TLSClientFiles(authorityPath: tls.authorityPath, certificate: certificate)
            )
        } catch {
            throw .cannotConnect(reason: error.description)
        }
        serverName = tls.serverName
        self.hosts = hosts
    }

    /// How a connection to a service is secured.
    package func target(for endpoint: Endpoint) -> TLSTarget {
        let host =
            switch endpoint {
            case .address(let address): hosts[endpoint] ?? address.hostText
            case .name(let name, _): hosts[endpoint] ?? name
            }
        return TLSTarget(context: context, host: serverName ?? host)
    }

    /// The host of an address as it is written, without its port and its brackets.
    package static func host(of text: String) -> String? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let host = text[..<colon]
        return String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host)
    }
}
