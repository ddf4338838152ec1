import FeedProto
import FeedTransport

/// Why a call outside the load has no answer to use.
enum ControlError: Error, Equatable, CustomStringConvertible {
    /// The connection never opened.
    case unreachable(TransportError)
    /// The service answered with an error.
    case refused(Status)
    /// The connection ended, or no answer came in time.
    case lost
    /// The answer is not one the protocol allows here.
    case unexpected

    /// The cause in a sentence.
    var description: String {
        switch self {
        case .unreachable(let error): error.description
        case .refused(let status): status.description
        case .lost: "The connection ended or no answer came in time."
        case .unexpected: "The answer is not one that the protocol allows."
        }
    }
}

/// A connection for everything but the load: what is created before it and read after it.
final class ControlConnection: ConnectionHandler {
    /// Takes the answer to a call, or why there is none; called once.
    typealias Completion = (Result<FeedProto.Response, ControlError>) -> Void

    private let loop: EventLoop
    private var connection: TCPConnection?
    private var pending: [UInt64: Completion] = [:]
    private var nextID: UInt64 = 1
    private var encoder = FrameEncoder()
    private var decoder = MessageDecoder()
    private var opened: Completion?
    private var watch: LoopTimer?
    private var lastProgress = EventLoop.clock
    private var isEnded = false

    /// A connection on `loop`, not open yet.
    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Connects, greets the service and hands over its answer.
    func open(_ address: SocketAddress, timeout: Duration, _ completion: @escaping Completion) {
        opened = completion
        do {
            watch = try loop.addTimer(every: .milliseconds(250)) { [unowned self] in
                let now = EventLoop.clock
                if !pending.isEmpty, now.duration(since: lastProgress) > Self.patience {
                    connection?.reset()
                }
            }
            try loop.connect(to: address, timeout: timeout, handler: self)
        } catch {
            end(.unreachable(error))
        }
    }

    /// Sends a call; calls may be pipelined and are answered in order.
    func call(_ request: FeedProto.Request, _ completion: @escaping Completion) {
        guard !isEnded, let connection else { return completion(.failure(.lost)) }
        if pending.isEmpty { lastProgress = EventLoop.clock }
        pending[nextID] = completion
        do throws(FrameError) {
            try encoder.append(ClientFrame(id: nextID, request: request))
        } catch {
            preconditionFailure("No call of a run comes near the frame limit: \(error)")
        }
        nextID += 1
        encoder.withBytes { connection.write($0) }
        encoder.removeAll()
    }

    /// Closes the connection; calls without an answer get none.
    func close() {
        connection?.closeAfterFlush()
        end(.lost)
    }

    func connectionOpened(_ connection: TCPConnection) {
        self.connection = connection
        guard let opened else { return }
        self.opened = nil
        call(.hello(HelloRequest(clientName: "loadgen")), opened)
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        var offset = 0
        do {
            while let body = try FrameScanner().nextBody(in: bytes, at: offset) {
                let frame = try decoder.decodeServerFrame(bytes.extracting(body))
                offset = body.upperBound
                receive(frame)
            }
        } catch {
            end(.unexpected)
            connection.reset()
            return ReadProgress(consumedByteCount: bytes.byteCount)
        }
        return ReadProgress(consumedByteCount: offset)
    }

    func connectionEndedInput(_ connection: TCPConnection) {
        connection.closeAfterFlush()
    }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        if case .connectFailed(let error) = reason { return end(.unreachable(error)) }
        end(.lost)
    }

    /// A healthy service answers a call of a run within milliseconds.
    private static let patience = Duration.seconds(10)

    private func receive(_ frame: ServerFrame) {
        lastProgress = EventLoop.clock
        guard let completion = pending.removeValue(forKey: frame.id) else { return }
        if let status = frame.status {
            completion(.failure(.refused(status)))
        } else if let response = frame.response {
            completion(.success(response))
        } else {
            completion(.failure(.unexpected))
        }
    }

    private func end(_ error: ControlError) {
        guard !isEnded else { return }
        isEnded = true
        watch?.cancel()
        connection = nil
        let waiting = pending.sorted { $0.key < $1.key }.map(\.value)
        pending = [:]
        opened?(.failure(error))
        opened = nil
        for completion in waiting { completion(.failure(error)) }
    }
}

@available(*, unavailable)
extension ControlConnection: Sendable {}
