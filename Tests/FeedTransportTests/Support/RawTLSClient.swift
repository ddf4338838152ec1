import FeedTLS
import FeedTestSupport
import FeedTransport

/// A client over TLS on a socket of its own, which decides what it sends together.
final class RawTLSClient {
    private let socket: TestSocket
    private let connection: TLSConnection
    private let buffers = TLSBuffers(readByteCount: 1 << 16)

    /// A client that has sent nothing yet.
    init(_ socket: TestSocket, _ context: TLSContext) throws {
        self.socket = socket
        connection = try TLSConnection(client: context, host: "localhost", buffers)
    }

    /// Shakes hands, and sends bytes together with the last message of that.
    func shakeHandsAndSend(_ plaintext: [UInt8]) throws {
        var progress = TLSConnection.Progress.handshake
        while progress == .handshake {
            try socket.send(takeOutput())
            let ciphertext = try receiveSome()
            progress = try unsafe connection.receive(ciphertext.span.bytes)
        }
        try unsafe connection.send(plaintext.span.bytes)
        try socket.send(takeOutput())
    }

    /// The next bytes, exactly so many.
    func receive(_ count: Int) throws -> [UInt8] {
        var received: [UInt8] = []
        while received.count < count {
            let ciphertext = try receiveSome()
            _ = try unsafe connection.receive(ciphertext.span.bytes)
            buffers.withPlaintext { received.append(copying: $0) }
        }
        return received
    }

    private func receiveSome() throws -> [UInt8] {
        let ciphertext = try socket.receiveSome(atMost: 1 << 16)
        guard !ciphertext.isEmpty else {
            throw TestSocket.Failure.endOfFile(received: 0, wanted: 1)
        }
        return ciphertext
    }

    private func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        buffers.takeOutput { output.append(copying: $0) }
        return output
    }
}
