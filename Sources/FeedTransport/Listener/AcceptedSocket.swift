/// A connection that was accepted and that no loop has yet.
package struct AcceptedSocket: Sendable {
    let descriptor: Int32

    /// Who connected.
    package let peer: SocketAddress
}
