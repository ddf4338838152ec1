package import FeedTLS

/// How a client secures a connection, and the host that it wants to reach.
package struct TLSTarget: Sendable {
    /// Whom the client trusts, and its own certificate.
    package let context: TLSContext
    /// The name or the address that the server's certificate must have.
    package let host: String

    /// Secures a connection to a host.
    package init(context: TLSContext, host: String) {
        self.context = context
        self.host = host
    }
}
