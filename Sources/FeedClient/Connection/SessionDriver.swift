import FeedConcurrency
import FeedProto
import FeedTransport

/// The I/O of a client, bound to the client's loop: performs the steps of the session, and
/// reports events to it.
///
/// All calls that leave in one loop iteration leave in one write.
final class SessionDriver {
    /// The result that a caller gets.
    typealias Outcome = Result<Answer, FeedClientError>
    /// What takes the result of a call; it is resumed once.
    enum Waiter {
        /// A task that waits for one answer.
        case task(CheckedContinuation<Outcome, Never>)
        /// The place of a call in a group.
        case member(CallGroup, place: Int)

        fileprivate func resume(returning outcome: Outcome) {
            switch self {
            case .task(let task): task.resume(returning: outcome)
            case .member(let group, let place): group.complete(place, outcome)
            }
        }
    }
    /// The state machine.
    typealias Session = ClientSession<Waiter, SystemRandomNumberGenerator>

    let loop: EventLoop
    private let endpoint: Endpoint
    private let configuration: ClientConfiguration
    private var session: Session
    /// The connection, from the try to open it to its end.
    private var wire: WireConnection?
    /// What is left of the current try to connect.
    private var dialer: Dialer?
    /// The number of the latest lookup: the answer to an earlier one is too late.
    private var lookupNumber = 0
    private var timer: LoopTimer?
    private var armedInstant: MonotonicInstant?
    private var isProceeding = false

    /// A driver without a connection.
    init(_ loop: EventLoop, to endpoint: Endpoint, _ configuration: ClientConfiguration) {
        self.loop = loop
        self.endpoint = endpoint
        self.configuration = configuration
        session = Session(
            Session.Settings(configuration),
            randomness: SystemRandomNumberGenerator(),
            at: loop.now
        )
    }

    /// The driver of a client's loop.
    static func of(_ loop: EventLoop) -> SessionDriver {
        guard let driver = loop.context as? SessionDriver else {
            preconditionFailure("A client's loop has its driver from its start.")
        }
        return driver
    }

    /// Takes the call that ends with the answer to the first Hello.
    func open(_ call: Session.Call, token: UInt64) {
        session.open(call, token: token)
        proceed()
    }

    /// Takes calls, whose tokens count up from `firstToken`; each caller is resumed when its call
    /// ends.
    func submit(_ calls: some Sequence<Session.Call>, firstToken: UInt64) {
        var token = firstToken
        for call in calls {
            session.submit(call, token: token)
            token += 1
        }
        // Other calls that were submitted in this loop iteration leave in the same write.
        if wire?.requestIteration() != true { proceed() }
    }

    /// Gives up calls for their caller.
    func cancel(_ tokens: ClosedRange<UInt64>) {
        for token in tokens { session.cancel(token) }
        proceed()
    }

    /// What the session sent again, and the instance of the service that answered Hello last.
    var history: ConnectionHistory {
        ConnectionHistory(
            retries: session.retries,
            instanceID: session.instanceID,
            isConnected: session.isConnected
        )
    }

    /// Takes no more calls, finishes those on an open connection, and stops the loop.
    func close() {
        session.close()
        proceed()
    }

    /// Performs the session's steps until it waits.
    func proceed() {
        guard !isProceeding else { return }
        isProceeding = true
        defer { isProceeding = false }
        while true {
            switch session.nextStep(at: loop.now, hasRoom: wire?.hasRoom ?? false) {
            case .complete(let caller, let outcome): caller.resume(returning: outcome)
            case .connect(let timeout): connect(timeout)
            case .sendHello(let id, let hello): sendHello(id, hello)
            case .send(let departure): send(departure)
            case .close: wire?.close()
            case .abandon: abandon()
            case .wait(let instant):
                wire?.flush()
                guard let instant, !arm(for: instant) else { return }
                // The loop is stopping and takes no timer.
                session.stop()
            case .finish: return loop.stop()
            }
        }
    }
}

/// What the connection reports.
extension SessionDriver {
    /// It is open.
    func opened() {
        dialer = nil
        session.connected()
        proceed()
    }

    /// A frame came; the connection lets the driver proceed once it has read all frames.
    func received(_ frame: ServerFrame) {
        session.received(frame, at: loop.now)
    }

    /// It is unusable.
    func drop(_ ending: Ending) {
        session.drop(ending, at: loop.now)
    }

    /// It ended, or did not open.
    func closed(_ reason: CloseReason) {
        wire = nil
        if case .connectFailed(let error) = reason, dialer != nil {
            dialer?.failed(error)
            dialNext()
        } else {
            session.disconnected(Ending(reason), at: loop.now)
        }
        proceed()
    }

    /// It is silent and has to be asked for a sign of life.
    func ping() {
        guard let wire, let id = session.takePingID() else { return }
        append(ClientFrame(id: id, request: .ping(PingRequest())), to: wire)
    }
}

extension SessionDriver {
    private func connect(_ timeout: Duration) {
        switch endpoint {
        case .address(let address): dial([address], timeout)
        case .name(let name, let port):
            lookupNumber += 1
            do throws(TransportError) {
                try configuration.hostLookup.start(name, port: port, on: loop.mailbox) {
                    [number = lookupNumber] in
                    SessionDriver.of($0).lookedUp($1, number: number, timeout)
                }
            } catch {
                session.disconnected(.cannotConnect(error.description), at: loop.now)
            }
        }
    }

    private func lookedUp(_ answer: HostLookup.Answer, number: Int, _ timeout: Duration) {
        // A try that was given up meanwhile has another number.
        guard number == lookupNumber else { return }
        switch answer {
        case .success(let addresses): dial(addresses, timeout)
        case .failure(.unknownHost(let name, let reason)):
            session.disconnected(.unknownHost(name, reason), at: loop.now)
        case .failure(let error):
            session.disconnected(.cannotConnect(error.description), at: loop.now)
        }
        proceed()
    }

    private func dial(_ addresses: [SocketAddress], _ timeout: Duration) {
        dialer = Dialer(addresses, timeout: timeout)
        dialNext()
    }

    private func dialNext() {
        while let dialer, let address = self.dialer?.next() {
            let wire = WireConnection(self, KeepAlive(configuration, at: loop.now))
            do throws(TransportError) {
                try loop.connect(to: address, timeout: dialer.timeout, handler: wire)
                self.wire = wire
                return
            } catch {
                self.dialer?.failed(error)
            }
        }
        guard let ending = dialer?.ending else { return }
        dialer = nil
        session.disconnected(ending, at: loop.now)
    }

    private func abandon() {
        lookupNumber += 1
        dialer = nil
        wire?.drop()
        wire = nil
    }

    private func sendHello(_ id: UInt64, _ hello: HelloRequest) {
        guard let wire else { preconditionFailure("A session sends Hello without a connection.") }
        append(ClientFrame(id: id, request: .hello(hello)), to: wire)
    }

    /// Appends a frame of the driver's own.
    private func append(_ frame: ClientFrame, to wire: WireConnection) {
        do throws(FrameError) {
            try wire.append(frame)
        } catch {
            // The least limit has room for a ping; a client's name may be longer than the limit.
            session.drop(.cannotConnect("Hello does not fit into a frame."), at: loop.now)
        }
    }

    private func send(_ departure: Session.Departure) {
        guard let wire else { preconditionFailure("A session sends without a connection.") }
        let call = departure.call
        let frame = ClientFrame(
            id: departure.id,
            request: call.request,
            timeoutMilliseconds: call.deadline.duration(since: loop.now).wireMilliseconds,
            sequence: call.sequence,
            minimumRevision: call.minimumRevision,
            actingUserID: call.actingUserID
        )
        do throws(FrameError) {
            try wire.append(frame)
        } catch {
            let limit = wire.maximumFrameByteCount
            session.couldNotSend(departure.id, FeedClientError(error, limitByteCount: limit))
        }
    }

    /// Makes sure that the driver proceeds at an instant or before; false where the loop is
    /// stopping.
    private func arm(for instant: MonotonicInstant) -> Bool {
        if let armedInstant, armedInstant <= instant { return true }
        timer?.cancel()
        armedInstant = instant
        let delay = max(.milliseconds(1), instant.duration(since: MonotonicInstant.now))
        timer = try? loop.addTimer(after: delay) { [unowned self] in
            timer = nil
            armedInstant = nil
            proceed()
        }
        return timer != nil
    }
}

extension KeepAlive {
    fileprivate init(_ configuration: ClientConfiguration, at now: MonotonicInstant) {
        self.init(
            interval: configuration.keepAliveInterval,
            timeout: configuration.keepAliveTimeout,
            at: now
        )
    }
}

@available(*, unavailable)
extension SessionDriver: Sendable {}
