import FeedTLS
import FeedTestSupport

/// A server's and a client's side of one connection, whose bytes a test carries back and forth.
final class TLSPair {
    let server: TLSConnection
    let client: TLSConnection
    private let serverBuffers = TLSBuffers(readByteCount: 64 << 10)
    private let clientBuffers = TLSBuffers(readByteCount: 64 << 10)
    private(set) var isSecured = (server: false, client: false)
    private(set) var hasEnded = (server: false, client: false)

    /// Two sides that have exchanged nothing; the client's first bytes wait.
    init(
        _ serverContext: TLSContext,
        _ clientContext: TLSContext,
        host: String = "localhost"
    ) throws {
        server = try TLSConnection(server: serverContext, serverBuffers)
        client = try TLSConnection(client: clientContext, host: host, clientBuffers)
    }

    /// Carries bytes until neither side has any, in pieces of at most that many bytes.
    func carry(pieces: Int = .max) throws {
        while true {
            let toServer = Self.take(clientBuffers)
            for piece in Self.split(toServer, pieces) { _ = try deliver(piece, toServer: true) }
            let toClient = Self.take(serverBuffers)
            for piece in Self.split(toClient, pieces) { _ = try deliver(piece, toServer: false) }
            if toServer.isEmpty, toClient.isEmpty { return }
        }
    }

    /// Gives the server bytes of a client, in pieces of at most that many bytes.
    func deliverToServer(_ bytes: [UInt8], pieces: Int) throws {
        for piece in Self.split(bytes, pieces) { _ = try deliver(piece, toServer: true) }
    }

    /// Gives one side bytes of the other; returns the plaintext.
    func deliver(_ bytes: [UInt8], toServer: Bool) throws -> [UInt8] {
        let connection = toServer ? server : client
        let progress = try unsafe connection.receive(bytes.span.bytes)
        switch progress {
        case .handshake: break
        case .secured: if toServer { isSecured.server = true } else { isSecured.client = true }
        case .ended: if toServer { hasEnded.server = true } else { hasEnded.client = true }
        }
        return (toServer ? serverBuffers : clientBuffers).withPlaintext(Self.copy)
    }

    /// What one side sends for a plaintext.
    func encrypted(_ plaintext: [UInt8], byServer: Bool) throws -> [UInt8] {
        try unsafe (byServer ? server : client).send(plaintext.span.bytes)
        return Self.take(byServer ? serverBuffers : clientBuffers)
    }

    /// What one side is about to send.
    func takeOutput(ofServer: Bool) -> [UInt8] {
        Self.take(ofServer ? serverBuffers : clientBuffers)
    }

    private static func take(_ buffers: TLSBuffers) -> [UInt8] {
        var bytes: [UInt8] = []
        buffers.takeOutput { bytes = copy($0) }
        return bytes
    }

    private static func copy(_ bytes: RawSpan) -> [UInt8] {
        unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }

    private static func split(_ bytes: [UInt8], _ count: Int) -> [[UInt8]] {
        guard count < bytes.count else { return bytes.isEmpty ? [] : [bytes] }
        return stride(from: 0, to: bytes.count, by: count).map {
            Array(bytes[$0..<min($0 + count, bytes.count)])
        }
    }
}
