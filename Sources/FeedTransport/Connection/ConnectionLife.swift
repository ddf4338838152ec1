/// The life of a connection: `connecting -> open -> flushing -> lingering -> closed`.
///
/// Each state may also become `closed` directly. Any other change is a fault of the transport, and
/// traps.
package enum ConnectionLife {
    /// A client's connection that the peer has not accepted, or one whose handler is not set.
    case connecting
    /// Bytes go to the handler and come from it.
    case open
    /// Unsent bytes are sent, and input is discarded.
    case flushing(CloseReason)
    /// Everything is sent, and the peer's end of file is awaited.
    case lingering(CloseReason)
    /// The handle is closing or closed.
    case closed(CloseReason)

    package var isOpen: Bool {
        if case .open = self { true } else { false }
    }

    package var isFlushing: Bool {
        if case .flushing = self { true } else { false }
    }

    package var isClosed: Bool {
        if case .closed = self { true } else { false }
    }

    package var closeReason: CloseReason? {
        switch self {
        case .connecting, .open: nil
        case .flushing(let reason), .lingering(let reason), .closed(let reason): reason
        }
    }

    /// The peer has accepted the connection, or the loop has accepted the peer's.
    package mutating func open() {
        guard case .connecting = self else {
            preconditionFailure("A connection opens once: it is \(self).")
        }
        self = .open
    }

    /// The handler writes nothing more.
    package mutating func flush(_ reason: CloseReason) {
        guard case .open = self else {
            preconditionFailure("Only an open connection is flushed: it is \(self).")
        }
        self = .flushing(reason)
    }

    /// Everything is sent.
    package mutating func linger() {
        guard case .flushing(let reason) = self else {
            preconditionFailure("Only a flushed connection lingers: it is \(self).")
        }
        self = .lingering(reason)
    }

    package mutating func close(_ reason: CloseReason) {
        guard !isClosed else { preconditionFailure("A connection closes once: it is \(self).") }
        self = .closed(reason)
    }
}

package enum CloseReason: Sendable, Hashable {
    /// The handler closed it, or its loop stopped.
    case local
    /// The peer ended its side first and everything was flushed.
    case peerClosed
    /// The peer or the network broke it.
    case reset
    case idleTimeout
    /// The rest of a begun frame did not come in time.
    case partialReadTimeout
    /// The peer took none of the bytes that waited for it.
    case writeStalled
    /// The connection held this many bytes, or was about to keep them, while all connections
    /// together held too much.
    case overBudget(heldByteCount: Int)
    case connectFailed(TransportError)
    /// The system failed in another way.
    case failed(TransportError)
}
