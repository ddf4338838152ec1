/// An accepted connection that no loop has yet.
package struct AcceptedSocket: Sendable {
    let descriptor: Int32

    /// The address of the peer, or of the client that a proxy has named.
    package let peer: SocketAddress
    /// Whether the connection is one of a proxy.
    var isProxied = false

    /// The connection with the address of the client that the proxy has named, if it has named one.
    func behindProxy(_ source: ProxyHeader.Source) -> AcceptedSocket {
        let client = if case .client(let address) = source { address } else { peer }
        return AcceptedSocket(descriptor: descriptor, peer: client, isProxied: true)
    }
}
