/// The reason why a connection ended.
package enum CloseReason: Sendable, Hashable {
    /// The handler closed it, or its loop stopped.
    case local
    /// The peer ended its side first and everything was flushed.
    case peerClosed
    /// The peer or the network broke it.
    case reset
    /// The peer was silent for too long.
    case idleTimeout
    /// The rest of a begun frame did not come in time.
    case partialReadTimeout
    /// The peer took none of the bytes that waited for it.
    case writeStalled
    /// The connection held this many bytes, or was about to keep them, while all connections
    /// together held too much.
    case overBudget(heldByteCount: Int)
    /// It was never open.
    case connectFailed(TransportError)
    /// The system failed in another way.
    case failed(TransportError)
}
