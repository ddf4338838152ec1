/// How a client secures its connections: TLS 1.3, with a check of the service's certificate.
///
/// ```swift
/// var configuration = ClientConfiguration()
/// configuration.tls = ClientTLS(authorityPath: "/etc/feed/ca.pem")
/// let client = try await FeedClient.connect(to: "feed.example.org:7434", configuration: configuration)
/// ```
///
/// All files are PEM. A client reads them when it is made, and a file that it cannot use is an error then.
public struct ClientTLS: Sendable, Equatable {
    /// The certificates that vouch for the service's; nil takes those of the system.
    public var authorityPath: String?

    /// The client's own certificate, for services that ask for one (`--tls-client-ca`); nil is none.
    ///
    /// It goes with a ``keyPath``.
    public var certificatePath: String?

    /// The private key of the certificate, which only its owner may read.
    public var keyPath: String?

    /// The name or the address that the service's certificate must have; nil is the host as the address
    /// of the service has it.
    public var serverName: String?

    /// TLS with these files.
    public init(
        authorityPath: String? = nil,
        certificatePath: String? = nil,
        keyPath: String? = nil,
        serverName: String? = nil
    ) {
        self.authorityPath = authorityPath
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        self.serverName = serverName
    }
}
