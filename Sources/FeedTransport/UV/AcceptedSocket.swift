/// An accepted connection that no loop has yet.
package struct AcceptedSocket: Sendable {
    let descriptor: Int32

    /// The address of the peer.
    package let peer: SocketAddress
}
