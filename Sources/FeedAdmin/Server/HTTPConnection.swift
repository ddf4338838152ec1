internal import FeedTransport

/// One connection of the operator's address: answers the requests in its bytes, one after another.
final class HTTPConnection: ConnectionHandler {
    private let pages: AdminPages
    private var isClosing = false

    /// A connection that these pages are read on.
    init(_ pages: AdminPages) { self.pages = pages }

    func connectionOpened(_ connection: TCPConnection) {}

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

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {}

    private func answer(_ request: HTTPRequest, on connection: TCPConnection) {
        let response = pages.response(to: request)
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
