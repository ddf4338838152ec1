internal import FeedTransport

/// One connection of the operator's address: answers the requests in its bytes, one after another.
final class HTTPConnection: ConnectionHandler {
    private let pages: AdminPages
    private let door: AdminDoor
    private let others: HTTPConnections
    private var isClosing = false

    /// A connection on which these pages are read, beside others.
    init(_ pages: AdminPages, at door: AdminDoor, beside others: HTTPConnections) {
        self.pages = pages
        self.door = door
        self.others = others
    }

    func connectionOpened(_ connection: TCPConnection) { others.add(connection) }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        var rest: [UInt8] = []
        rest.append(copying: bytes)
        while !isClosing, !rest.isEmpty {
            guard !connection.isAboveHighWatermark else {
                return ReadProgress(
                    consumedByteCount: bytes.byteCount - rest.count,
                    wantsIteration: true,
                    waitsForWrites: true
                )
            }
            switch HTTPRequest.parse(rest) {
            case .incomplete:
                return ReadProgress(consumedByteCount: bytes.byteCount - rest.count)
            case .request(let request, let byteCount):
                rest.removeFirst(byteCount)
                answer(request, on: connection)
            case .refused(let response):
                connection.write(response.encoded(isLast: true))
                close(connection)
            }
        }
        return ReadProgress(consumedByteCount: bytes.byteCount)
    }

    func connectionEndedInput(_ connection: TCPConnection) { close(connection) }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        others.remove(connection)
    }

    private func answer(_ request: HTTPRequest, on connection: TCPConnection) {
        others.touch(connection)
        let response = door.response(to: request, on: connection, pages)
        let hasBody = request.method != "HEAD"
        connection.write(response.encoded(isLast: request.isLast, hasBody: hasBody))
        if request.isLast { close(connection) }
    }

    private func close(_ connection: TCPConnection) {
        isClosing = true
        connection.closeAfterFlush()
    }
}

@available(*, unavailable)
extension HTTPConnection: Sendable {}
