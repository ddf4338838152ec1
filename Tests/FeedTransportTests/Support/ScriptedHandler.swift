import FeedTransport

/// A handler that does what a test says; by default it echoes, and closes when its peer has.
final class ScriptedHandler: ConnectionHandler {
    var opened: (TCPConnection) -> Void = { _ in }
    var received: (TCPConnection, [UInt8]) -> ReadProgress = { connection, bytes in
        connection.write(bytes)
        return ReadProgress(consumedByteCount: bytes.count)
    }
    var ended: (TCPConnection) -> Void = { $0.closeAfterFlush() }
    var closed: (TCPConnection, CloseReason) -> Void = { _, _ in }

    init(_ script: (ScriptedHandler) -> Void = { _ in }) {
        script(self)
    }

    func connectionOpened(_ connection: TCPConnection) {
        opened(connection)
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        received(connection, unsafe bytes.withUnsafeBytes { unsafe Array($0) })
    }

    func connectionEndedInput(_ connection: TCPConnection) {
        ended(connection)
    }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        closed(connection, reason)
    }
}
