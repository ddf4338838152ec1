internal import FeedClientTransport
internal import FeedConcurrency
internal import FeedNetwork
internal import FeedProto

/// The I/O of a client, bound to the client's loop: performs the steps of the session, and
/// reports events to it.
///
/// All calls that leave in one loop iteration leave in one write.
final class SessionDriver {
    typealias Outcome = Result<Answer, FeedClientError>
    /// What takes the result of a call; it is resumed once.
    enum Waiter {
        case task(CallTask)
        case member(CallGroup, place: Int)

        fileprivate func resume(returning outcome: Outcome) {
            switch self {
            case .task(let task): task.resume(returning: outcome)
            case .member(let group, let place): group.complete(place, outcome)
            }
        }
    }
    typealias Session = ClientSession<Waiter, SystemRandomNumberGenerator>

    let loop: Transport.Loop
    private let place: Int
    private let inbox: CallInbox
    /// What the client knows, which the session's news change.
    private let knowledge: ClientKnowledge
    /// The calls of the inbox that are submitted now; the memory is used again.
    private var taken: [InboxCall] = []
    /// What has passed of the time of the next call.
    var spentTime = Duration.zero
    private let configuration: ClientConfiguration
    private var session: Session
    /// What the watches that have not ended are shown through.
    private var mailboxes: [UInt64: WatchMailbox] = [:]
    /// The connection, from the try to open it to its end.
    private var wire: WireConnection?
    /// What is left of the current try to connect; nil if there is none.
    private var dialer: Dialer?
    /// The services to try, and the one that the next try begins with.
    private var route: Route
    /// The number of the latest lookup: the answer to an earlier one is too late.
    private var lookupNumber = 0
    private var timer: Transport.Timer?
    private var armedInstant: MonotonicInstant?
    private var isProceeding = false
    private var hasFinished = false

    init(
        _ loop: Transport.Loop,
        to endpoints: [Endpoint],
        _ configuration: ClientConfiguration,
        _ inbox: CallInbox,
        _ knowledge: ClientKnowledge,
        place: Int
    ) {
        self.loop = loop
        self.place = place
        self.inbox = inbox
        self.knowledge = knowledge
        route = Route(endpoints)
        self.configuration = configuration
        session = Session(
            Session.Settings(configuration, connection: place),
            randomness: SystemRandomNumberGenerator(),
            at: loop.now
        )
        session.serviceCount = route.count
    }

    static func of(_ loop: Transport.Loop, _ place: Int) -> SessionDriver {
        Drivers.of(loop).all[place]
    }

    /// Takes the call that ends with the answer to a Hello.
    func open(_ call: Session.Call, token: UInt64) {
        session.open(call, token: token)
        proceed()
    }

    func takeInbox() {
        submitInbox()
        proceedWithOthers()
    }

    private func submitInbox() {
        inbox.take(into: &taken)
        var start = loop.now
        if spentTime > .zero, !taken.isEmpty {
            start = start.advanced(by: .zero - spentTime)
            spentTime = .zero
        }
        var limit = TimeLimit(.zero, at: start)
        for entry in taken {
            // Most calls have the same timeout, and all begin at once.
            if entry.timeout != limit.timeout { limit = TimeLimit(entry.timeout, at: start) }
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
        spentTime = .zero
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

    func adopt(sessionToken token: [UInt8]) {
        session.adopt(sessionToken: token)
        proceed()
    }

    func leave(sessionToken token: [UInt8]) {
        session.leave(sessionToken: token)
        proceed()
    }

    private func forget(_ ended: EndedSession) {
        session.forget(ended)
        proceed()
    }

    func cancel(_ tokens: ClosedRange<UInt64>) {
        // The calls may still be in the inbox, if the task that wakes the loop for it is held up.
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

    func proceed() {
        guard !isProceeding else { return }
        isProceeding = true
        defer { isProceeding = false }
        while true {
            switch session.nextStep(at: loop.now, hasRoom: wire?.hasRoom ?? false) {
            case .complete(let ended):
                for (caller, outcome) in ended { caller.resume(returning: outcome) }
            case .connect(let timeout, let destination, let goesOn):
                if let endpoint = route.begin(at: destination, goingOn: goesOn) {
                    let silence = configuration.silence
                    connect(to: endpoint, route.patience(within: timeout, silence: silence))
                } else {
                    session.hasAskedAll(at: loop.now)
                }
            case .sendHello(let id, let hello): sendHello(id, hello)
            case .send(let departure): send(departure)
            case .watch(let step): perform(step)
            case .tell(let news):
                knowledge.take(news)
                guard case .ended(let ended) = news else { continue }
                for other in Drivers.of(loop).all { other.forget(ended) }
            case .close: wire?.close()
            case .abandon: abandon()
            case .wait(let instant):
                wire?.flush()
                if let whenWaiting = configuration.whenWaiting, let ending = session.causeOfWait {
                    whenWaiting(ending.error(effect: .none))
                }
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
    func opened() {
        dialer = nil
        if route.count > 1 {
            let patience = route.patience(
                within: configuration.connectTimeout,
                silence: configuration.silence
            )
            session.connected(by: loop.now.advanced(by: patience.withinADay))
        } else {
            session.connected()
        }
        proceed()
    }

    /// A frame came; the connection lets the driver proceed once it has read all frames.
    func received(_ frame: ServerFrame) { session.received(frame, at: loop.now) }

    /// It is unusable.
    func drop(_ ending: Ending) { session.drop(ending, at: loop.now) }

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

    /// Hello was answered, which the session hears next.
    ///
    /// The result is how long the service may be silent while calls wait, before another one is asked; nil if
    /// there is no other.
    func greeted(by hello: HelloResponse) -> Duration? {
        route.learn(hello, takesMembers: !configuration.staysAtAddresses)
        session.serviceCount = route.count
        return route.hasOthers ? configuration.silence : nil
    }

    /// Whether calls wait for an answer.
    var awaitsAnswers: Bool { session.callCount > 0 }

    /// It is silent and has to be asked for a sign of life.
    func ping() {
        guard wire != nil, let id = session.takePingID() else { return }
        sendOwn(ClientFrame(id: id, request: .ping(PingRequest())))
    }
}

extension SessionDriver {
    private func sendHello(_ id: UInt64, _ hello: HelloRequest) {
        sendOwn(ClientFrame(id: id, request: .hello(hello)))
    }

    /// Sends a frame of the driver's own.
    private func sendOwn(_ frame: ClientFrame) {
        // The least limit has room for a ping; a client's name may be longer than the limit.
        guard append(frame) != nil else { return }
        session.drop(.cannotConnect("Hello does not fit into a frame."), at: loop.now)
    }

    private func send(_ departure: Session.Departure) {
        let call = departure.call
        let frame = ClientFrame(
            id: departure.id,
            request: call.request,
            timeoutMilliseconds: call.deadline.wireMilliseconds(since: loop.now),
            sequence: call.sequence,
            minimumRevision: call.minimumRevision,
            actingUserID: call.actingUserID
        )
        if let error = append(frame) { session.couldNotSend(departure.id, error) }
    }

    /// Buffers a frame; the result says why it does not fit, nil if it does.
    private func append(_ frame: ClientFrame) -> FeedClientError? {
        guard let wire else { preconditionFailure("A session sends without a connection.") }
        do throws(FrameError) {
            try wire.append(frame)
            return nil
        } catch {
            return FeedClientError(error, limitByteCount: wire.maximumFrameByteCount)
        }
    }

    /// Makes sure that the driver proceeds at an instant or before; false if the loop is
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

/// How the driver opens a connection: the services in turn, and the addresses of each.
extension SessionDriver {
    /// Gives up the connection or the try to open one.
    private func abandon() {
        lookupNumber += 1
        dialer = nil
        wire?.drop()
        wire = nil
    }

    /// The next address of the service, or the next service; the services share the time.
    private func dialNext() {
        while let dialer, let address = self.dialer?.next() {
            let keepAlive = KeepAlive(
                interval: configuration.keepAliveInterval,
                timeout: configuration.keepAliveTimeout,
                at: loop.now
            )
            let wire = WireConnection(self, keepAlive)
            do throws(TransportError) {
                try loop.connect(
                    to: address,
                    timeout: dialer.timeout,
                    security: dialer.security,
                    handler: wire
                )
                self.wire = wire
                return
            } catch {
                self.dialer?.failed(error)
            }
        }
        guard let dialer else { return }
        self.dialer = nil
        failed(dialer.ending, dialer.wholeTimeout)
    }

    private func connect(to endpoint: Endpoint, _ timeout: Duration) {
        switch endpoint {
        case .address(let address): dial([address], of: endpoint, timeout)
        case .name(let name, let port):
            lookupNumber += 1
            do throws(ThreadStartError) {
                try configuration.hostLookup.start(name, port: port) {
                    [mailbox = loop.mailbox, place, number = lookupNumber] answer in
                    mailbox.post {
                        SessionDriver.of($0, place)
                            .lookedUp(answer, of: endpoint, number: number, timeout)
                    }
                }
            } catch {
                failed(.cannotConnect(error.description), timeout)
            }
        }
    }

    private func lookedUp(
        _ answer: HostLookup.Answer,
        of endpoint: Endpoint,
        number: Int,
        _ timeout: Duration
    ) {
        // A try that was given up meanwhile has another number.
        guard number == lookupNumber else { return }
        switch answer {
        case .success(let addresses): dial(addresses, of: endpoint, timeout)
        case .failure(.unknownHost(let name, let reason)):
            failed(.unknownHost(name, reason), timeout)
        case .failure(let error):
            failed(.cannotConnect(error.description), timeout)
        }
        proceed()
    }

    private func dial(_ addresses: [SocketAddress], of endpoint: Endpoint, _ timeout: Duration) {
        dialer = Dialer(
            addresses,
            timeout: timeout,
            security: configuration.security?.target(for: endpoint)
        )
        dialNext()
    }

    /// Goes on with the next service, or ends the try.
    private func failed(_ ending: Ending, _ timeout: Duration) {
        guard let endpoint = route.next() else { return session.disconnected(ending, at: loop.now) }
        connect(to: endpoint, timeout)
    }
}

/// Watches, each of which is shown through a mailbox.
extension SessionDriver {
    func watch(
        _ token: UInt64,
        _ request: WatchPostsRequest,
        actingUserID: UserID,
        _ mailbox: WatchMailbox
    ) {
        mailboxes[token] = mailbox
        session.watch(token, request, actingUserID: actingUserID)
        proceed()
    }

    func cancelWatch(_ token: UInt64) {
        mailboxes[token] = nil
        session.cancelWatch(token)
        proceed()
    }

    private func perform(_ step: WatchTable.Step) {
        switch step {
        case .show(let token, let copy): mailboxes[token]?.put(copy)
        case .end(let token, let error): mailboxes.removeValue(forKey: token)?.end(error)
        case .begin(let id, let request, let user):
            send(ClientFrame(id: id, request: .watchPosts(request), actingUserID: user))
        case .cancel(let id, let watchID):
            send(ClientFrame(id: id, request: .cancel(CancelRequest(id: watchID))))
        }
    }

    /// Sends a frame of a watch; a watch whose request does not fit into one ends.
    private func send(_ frame: ClientFrame) {
        // The least limit of a frame has room for Cancel, so one that does not fit is WatchPosts.
        if let error = append(frame) { session.couldNotBegin(frame.id, error) }
    }
}

/// One try to connect: which addresses of the service are still to be tried, and for how long.
private struct Dialer {
    /// How long each address may take.
    let timeout: Duration
    /// How long all of them may take.
    let wholeTimeout: Duration
    /// How the connection is secured; nil if it is not.
    let security: Transport.Target?
    private var addresses: ArraySlice<SocketAddress>
    private var lastError: TransportError?

    /// A try of some addresses in their order, which share the time.
    init(_ addresses: [SocketAddress], timeout: Duration, security: Transport.Target?) {
        self.security = security
        self.addresses = addresses[...]
        self.timeout = timeout / max(1, addresses.count)
        wholeTimeout = timeout
    }

    mutating func next() -> SocketAddress? { addresses.popFirst() }

    mutating func failed(_ error: TransportError) { lastError = error }

    /// Why none of the addresses answered: the last error.
    var ending: Ending { .cannotConnect(lastError?.description ?? "The service has no address.") }
}
