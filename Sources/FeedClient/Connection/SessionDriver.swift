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
        case task(CallTask)
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
    /// The place of the driver among those of its loop.
    let place: Int
    private let inbox: CallInbox
    /// The calls of the inbox that are submitted now; the memory is used again.
    private var taken: [InboxCall] = []
    let configuration: ClientConfiguration
    var session: Session
    /// What the watches that have not ended are shown through.
    var mailboxes: [UInt64: WatchMailbox] = [:]
    /// The connection, from the try to open it to its end.
    var wire: WireConnection?
    /// What is left of the current try to connect; nil where there is none.
    var dialer: Dialer?
    /// The services to try, and the one that the next try begins with.
    var route: Route
    /// The number of the latest lookup: the answer to an earlier one is too late.
    var lookupNumber = 0
    private var timer: LoopTimer?
    private var armedInstant: MonotonicInstant?
    private var isProceeding = false
    private var hasFinished = false

    /// A driver without a connection.
    init(
        _ loop: EventLoop,
        to endpoints: [Endpoint],
        _ configuration: ClientConfiguration,
        _ inbox: CallInbox,
        place: Int
    ) {
        self.loop = loop
        self.place = place
        self.inbox = inbox
        route = Route(endpoints)
        self.configuration = configuration
        session = Session(
            Session.Settings(configuration, connection: place),
            randomness: SystemRandomNumberGenerator(),
            at: loop.now
        )
    }

    /// The driver of a connection, by its place in its client's loop.
    static func of(_ loop: EventLoop, _ place: Int) -> SessionDriver { Drivers.of(loop).all[place] }

    /// Takes the call that ends with the answer to the first Hello.
    func open(_ call: Session.Call, token: UInt64) {
        session.open(call, token: token)
        proceed()
    }

    /// Takes the calls of the inbox.
    func takeInbox() {
        submitInbox()
        proceedWithOthers()
    }

    private func submitInbox() {
        inbox.take(into: &taken)
        var limit = TimeLimit(.zero, at: loop.now)
        for entry in taken {
            // Most calls have the same timeout, and all begin now.
            if entry.timeout != limit.timeout { limit = TimeLimit(entry.timeout, at: loop.now) }
            let call = Session.Call(
                .task(entry.task),
                entry.request,
                minimumRevision: entry.minimumRevision,
                actingUserID: entry.actingUserID,
                limit
            )
            session.submit(call, token: entry.token)
        }
        taken.removeAll(keepingCapacity: true)
    }

    /// Takes calls, whose tokens count up from `firstToken`; each caller is resumed when its call
    /// ends.
    func submit(_ calls: some Sequence<Session.Call>, firstToken: UInt64) {
        var token = firstToken
        for call in calls {
            session.submit(call, token: token)
            token += 1
        }
        proceedWithOthers()
    }

    /// Proceeds so that calls leave in the same write as others of this loop iteration.
    private func proceedWithOthers() {
        if wire?.requestIteration() != true { proceed() }
    }

    /// Lets the calls from now on be those of a session, or of none where the token is empty.
    func adopt(sessionToken token: [UInt8]) {
        session.adopt(sessionToken: token)
        proceed()
    }

    /// Forgets a session that has ended on another connection of the client.
    private func forget(_ ended: EndedSession) {
        session.forget(ended)
        proceed()
    }

    /// Gives up calls for their caller.
    func cancel(_ tokens: ClosedRange<UInt64>) {
        // The calls may still be in the inbox, where the task that wakes the loop for it is held up.
        submitInbox()
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
            case .complete(let ended):
                for (caller, outcome) in ended { caller.resume(returning: outcome) }
            case .connect(let timeout): connect(timeout)
            case .sendHello(let id, let hello): sendHello(id, hello)
            case .send(let departure): send(departure)
            case .watch(let step): perform(step)
            case .tellOthers(let ended):
                for other in Drivers.of(loop).all { other.forget(ended) }
            case .close: wire?.close()
            case .abandon: abandon()
            case .wait(let instant):
                wire?.flush()
                guard let instant, !arm(for: instant) else { return }
                // The loop is stopping and takes no timer.
                session.stop()
            case .finish:
                guard !hasFinished else { return }
                hasFinished = true
                // A stop runs the work that was posted before, so calls may have come to their end.
                if Drivers.of(loop).finishOne() { loop.stop() }
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
            let isUnanswered = session.awaitsHello && configuration.security == nil
            session.disconnected(Ending(reason, isUnanswered: isUnanswered), at: loop.now)
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
            timeoutMilliseconds: call.deadline.wireMilliseconds(since: loop.now),
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

@available(*, unavailable)
extension SessionDriver: Sendable {}
