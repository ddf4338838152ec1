/// Receives the events of one connection, on the connection's loop only.
package protocol ConnectionHandler: AnyObject {
    /// The first bytes of a handler that it looks at when it receives bytes, at most.
    ///
    /// They are requested before its turn, because the caches have forgotten them.
    static var hotByteCount: Int { get }

    /// The connection is ready: for a client, the peer has accepted.
    func connectionOpened(_ connection: TCPConnection)

    /// Delivers every byte that was not consumed yet, contiguous and valid for the call only.
    ///
    /// A call that the handler asked for (``TCPConnection/requestIteration()``) may bring no bytes.
    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress

    /// Announces bytes that are delivered soon, after those of some other connections.
    func connection(_ connection: TCPConnection, willReceive bytes: RawSpan)

    /// The peer ended its side; all bytes before the end were delivered, and unconsumed ones are
    /// discarded.
    func connectionEndedInput(_ connection: TCPConnection)

    /// The connection is gone; called exactly once and last, and never from within another call.
    func connectionClosed(_ connection: TCPConnection, reason: CloseReason)
}

extension ConnectionHandler {
    package static var hotByteCount: Int { 64 }

    package func connection(_ connection: TCPConnection, willReceive bytes: RawSpan) {}
}
