internal import FeedTLS

/// The TLS handshake of one connection, until the connection opens.
final class Handshake {
    /// The side that this process takes.
    enum Side {
        /// The peer has connected; its handler is made when the connection opens.
        case server(TLSAcceptor, TCPConnection.MakeHandler)
        /// This side has connected.
        case client(TLSTarget)
    }

    /// The side that this process takes.
    let side: Side
    /// Whether bytes of the peer wait to be worked on.
    var isQueued = false

    /// A handshake in which nothing was sent.
    init(_ side: Side) {
        self.side = side
    }
}
