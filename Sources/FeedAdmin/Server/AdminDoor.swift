package import FeedTransport

/// An address at which the pages are read, and who may read them there.
package struct AdminDoor: Sendable {
    /// The address.
    package var address: SocketAddress
    /// Secures the connections; without it the pages go as plain text.
    package var security: TLSAcceptor?
    /// Whether the sender of a request may read all pages; called on the thread of the pages.
    package var admits: @Sendable (HTTPRequest, TCPConnection) -> Bool

    /// A door; without `admits` everybody who reaches it may read.
    package init(
        _ address: SocketAddress,
        security: TLSAcceptor? = nil,
        admits: @escaping @Sendable (HTTPRequest, TCPConnection) -> Bool = { _, _ in true }
    ) {
        self.address = address
        self.security = security
        self.admits = admits
    }

    /// The answer to a request at this door.
    func response(
        to request: HTTPRequest,
        on connection: TCPConnection,
        _ pages: AdminPages
    ) -> HTTPResponse {
        // A page of the web that has its own name resolved to 127.0.0.1 can then read nothing.
        guard security != nil || !address.isLoopback || LoopbackHost.isNamed(by: request.host)
        else {
            return .text(.misdirected, "Expected a loopback host, got \"\(request.host)\".")
        }
        return pages.response(to: request, isAdmitted: admits(request, connection))
    }
}
