internal import FeedClient
import FeedProto
import FeedTransport

/// A connection for everything but the load: it creates posts before the load and reads them after
/// it.
///
/// With retries a lost connection is opened again. Calls without an answer are sent again; calls
/// that change something keep their sequences.
final class ControlConnection {
    /// Takes the answer to a call, or why there is none; called once.
    typealias Completion = (Result<FeedProto.Response, ControlError>) -> Void

    /// A call until its answer.
    struct Call {
        let request: FeedProto.Request
        let sequence: UInt64
        let completion: Completion
        /// Whether it was sent before.
        var isRepeated = false
        /// Whether it was sent on a connection that is lost, and changes something.
        var isDoubtful = false
    }

    /// How calls are sent again.
    struct Retrying {
        /// The client id of the run.
        var clientID: [UInt8]
        /// The most tries in a row that get nothing answered.
        var limit: Int
        /// Whether the first try to connect is one of them, because the service was reachable
        /// before.
        var isPersistent = false
    }

    /// What was sent again so far.
    var retries = Retries()

    let loop: EventLoop
    let retrying: Retrying?
    var connection: TCPConnection?
    var address = SocketAddress.loopback(port: 0)
    var connectTimeout = Duration.zero
    /// Takes the answer to the first greeting.
    var opened: Completion?
    /// The answer to the first greeting.
    var firstHello: HelloResponse?
    /// Calls in flight, by id.
    var pending: [UInt64: Call] = [:]
    /// Calls that wait for a greeting, or for the end of a pause.
    var waiting: [Call] = []
    /// Whether calls may leave.
    var isOpen = false
    /// Calls in flight that were sent before.
    ///
    /// New calls wait for their answers, so that the sequences without an answer never lie far
    /// apart.
    var repeatedInFlightCount = 0
    var nextID: UInt64 = 1
    var decoder = MessageDecoder()
    var lastProgress = EventLoop.clock
    /// Tries in a row that got nothing answered.
    var round = 0
    var isEnded = false
    /// The numbers of the calls that change something.
    var numbers: SequenceNumbers

    private var encoder = FrameEncoder()
    private var watch: LoopTimer?
    private var jitter = SystemRandomNumberGenerator()

    /// A connection on `loop`, not open yet; with nil it sends nothing again.
    init(on loop: EventLoop, retrying: Retrying? = nil) {
        self.loop = loop
        self.retrying = retrying
        numbers = SequenceNumbers(hasIdentity: retrying != nil)
    }

    /// Connects, greets the service and passes on its answer.
    func open(_ address: SocketAddress, timeout: Duration, _ completion: @escaping Completion) {
        self.address = address
        connectTimeout = timeout
        opened = completion
        do throws(TransportError) {
            watch = try loop.addTimer(every: .milliseconds(250)) { [unowned self] in
                let now = EventLoop.clock
                if !pending.isEmpty, now.duration(since: lastProgress) > Self.patience {
                    connection?.reset()
                }
            }
        } catch {
            return end(.unreachable(error))
        }
        connect()
    }

    /// Sends a call.
    ///
    /// Calls may be pipelined and are answered in order, unless one is sent again.
    func call(_ request: FeedProto.Request, _ completion: @escaping Completion) {
        guard !isEnded else { return completion(.failure(.lost)) }
        var sequence: UInt64 = 0
        if retrying != nil, request.isMutation {
            sequence = numbers.take()
        }
        let call = Call(request: request, sequence: sequence, completion: completion)
        if isOpen, waiting.isEmpty, repeatedInFlightCount == 0 {
            send(call)
        } else {
            waiting.append(call)
        }
    }

    /// Closes the connection; calls without an answer get none.
    func close() {
        connection?.closeAfterFlush()
        end(.lost)
    }

    /// Puts a call on the wire.
    func send(_ call: Call) {
        if pending.isEmpty { lastProgress = EventLoop.clock }
        pending[nextID] = call
        let frame = ClientFrame(id: nextID, request: call.request, sequence: call.sequence)
        do throws(FrameError) {
            try encoder.append(frame)
        } catch {
            preconditionFailure("No call of a run comes near the frame limit: \(error)")
        }
        nextID += 1
        encoder.withBytes { connection?.write($0) }
        encoder.removeAll()
    }

    /// Runs `body` after the pause before the next try, which is at least `milliseconds` long.
    func pause(atLeast milliseconds: UInt32 = 0, _ body: @escaping () -> Void) {
        let nanoseconds = Backoff.nanoseconds(round: round, using: &jitter)
        let delay = max(
            Duration.nanoseconds(Int64(nanoseconds)),
            Duration.milliseconds(Int64(milliseconds))
        )
        do throws(TransportError) {
            try loop.addTimer(after: delay, body)
        } catch {
            end(.unreachable(error))
        }
    }

    /// Ends for good: every call without an answer gets `error`.
    func end(_ error: ControlError) {
        guard !isEnded else { return }
        isEnded = true
        isOpen = false
        watch?.cancel()
        connection = nil
        let calls = pending.sorted { $0.key < $1.key }.map(\.value) + waiting
        pending = [:]
        waiting = []
        opened?(.failure(error))
        opened = nil
        for call in calls { call.completion(.failure(error)) }
    }

    /// A healthy service answers a call of a run within milliseconds.
    private static let patience = Duration.seconds(10)
}

@available(*, unavailable)
extension ControlConnection: Sendable {}

extension FeedProto.Request {
    /// Whether the call changes something, so that it must not be executed twice.
    fileprivate var isMutation: Bool {
        switch self {
        case .createPost, .importPosts, .createFeed: true
        default: false
        }
    }
}
