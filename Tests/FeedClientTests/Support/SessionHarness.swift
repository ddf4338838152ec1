import FeedClient
import FeedConcurrency
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// Drives a session without a socket or a clock: performs its steps by writing them down.
///
/// Callers are numbers above 0, and their tokens are the same numbers.
struct SessionHarness {
    typealias Session = ClientSession<Int, SeededGenerator>
    typealias Outcome = Result<Answer, FeedClientError>

    /// What the session asked its driver for, beside sending calls and ending them.
    enum Demand: Equatable { case connect, sendHello, close, abandon, finish }

    var session: Session
    /// The time in milliseconds.
    var now: UInt64 = 1_000
    /// Whether the driver takes frames.
    var hasRoom = true
    var demands: [Demand] = []
    /// Where each try to connect was to begin, and whether it goes on with the one before.
    var destinations: [Destination] = []
    var goesOn: [Bool] = []
    var hello: HelloRequest?
    /// The calls that left, in order.
    var sent: [Session.Departure] = []
    var watchSteps: [WatchTable.Step] = []
    /// The sessions whose end it told the client's other connections, in order.
    var endedSessions: [EndedSession] = []
    /// The outcomes of each caller's call; one, if all is well.
    var outcomes: [Int: [Outcome]] = [:]
    /// When the session wants to be asked again.
    var wake: MonotonicInstant?
    private var seenDemandCount = 0
    private var takenFrameCount = 0

    /// A session of a client with an id, or of one without.
    init(
        hasID: Bool = true,
        seed: UInt64 = 1,
        _ change: (inout Session.Settings) -> Void = { _ in }
    ) {
        var settings = Session.Settings()
        if hasID { settings.hello.clientID = [UInt8](repeating: 7, count: 16) }
        change(&settings)
        session = Session(
            settings,
            randomness: SeededGenerator(seed: seed),
            at: MonotonicInstant(nanoseconds: now * 1_000_000)
        )
    }

    static let vote = Request.castVote(CastVoteRequest(postID: 1, direction: .up))
    static let read = Request.getPost(GetPostRequest(id: 1))

    static func hello(
        inFlight: UInt32 = 256,
        window: UInt32 = 256,
        instance: UInt64 = 1,
        isKnown: Bool = false,
        last: UInt64 = 0,
        capabilities: [Capability] = [.exactlyOnce],
        channelStatus: Status? = nil,
        role: NodeRole = .unspecified,
        members: [ClusterMember] = [],
        channelNumber: UInt64 = 0
    ) -> Response {
        guard case .hello(var hello) = ScriptedService.hello(inFlight: inFlight) else {
            preconditionFailure("The scripted service answers Hello.")
        }
        hello.instanceID = instance
        hello.isClientKnown = isKnown
        hello.lastSequence = last
        hello.capabilities = capabilities
        hello.channelStatus = channelStatus
        hello.role = role
        hello.members = members
        hello.channelNumber = channelNumber
        hello.limits?.sequenceWindow = window
        return .hello(hello)
    }

    var time: MonotonicInstant { MonotonicInstant(nanoseconds: now * 1_000_000) }

    /// Performs steps until the session waits.
    mutating func run() {
        while true {
            switch session.nextStep(at: time, hasRoom: hasRoom) {
            case .complete(let ended):
                for (caller, outcome) in ended { outcomes[caller, default: []].append(outcome) }
            case .connect(_, let destination, let goesOn):
                demands.append(.connect)
                destinations.append(destination)
                self.goesOn.append(goesOn)
            case .sendHello(let id, let hello):
                #expect(id == 1)
                self.hello = hello
                demands.append(.sendHello)
            case .send(let departure): sent.append(departure)
            case .watch(let step): watchSteps.append(step)
            case .tell(.ended(let ended)): endedSessions.append(ended)
            case .tell: break
            case .close: demands.append(.close)
            case .abandon: demands.append(.abandon)
            case .wait(let instant):
                wake = instant
                return
            case .finish:
                demands.append(.finish)
                return
            }
        }
    }

    mutating func pass(_ milliseconds: UInt64) {
        now += milliseconds
        run()
    }

    mutating func submit(_ caller: Int, _ request: Request = vote, within timeout: UInt64 = 10_000)
    {
        session.submit(call(caller, request, timeout), token: UInt64(caller))
        run()
    }

    /// Waits for the first Hello as caller 99.
    mutating func open(within timeout: UInt64 = 5_000) {
        session.open(call(99, .hello(HelloRequest()), timeout), token: 99)
        run()
    }

    private func call(_ caller: Int, _ request: Request, _ timeout: UInt64) -> Session.Call {
        Session.Call(
            caller: caller,
            request: request,
            timeout: .milliseconds(Int64(timeout)),
            deadline: MonotonicInstant(nanoseconds: (now + timeout) * 1_000_000)
        )
    }

    /// The wait for the next try passes, and the connection opens and its Hello is answered.
    mutating func connect(_ hello: Response = Self.hello()) {
        if demands.last != .connect { pass(5_000) }
        #expect(demands.last == .connect)
        session.connected()
        run()
        #expect(demands.last == .sendHello)
        receive(1, hello)
    }

    /// Opens the connection that the session asked for, unless the try fails, one of four if any may.
    ///
    /// - Returns: Whether a connection opened, whose Hello is not answered yet.
    mutating func opensConnection(mayFail: Bool, _ random: inout SeededGenerator) -> Bool {
        guard demands.last == .connect else { return false }
        if mayFail, random.oneIn(4) {
            lose(.cannotConnect("refused"))
            demands.append(.abandon)
            return false
        }
        session.connected()
        run()
        return true
    }

    /// What the session asked for since the last look.
    mutating func takeDemands() -> ArraySlice<Demand> {
        defer { seenDemandCount = demands.count }
        return demands[seenDemandCount...]
    }

    /// The frames of the calls that left since the last look, in order.
    mutating func takeFrames() -> [ClientFrame] {
        defer { takenFrameCount = sent.count }
        return sent[takenFrameCount...].map {
            ClientFrame(id: $0.id, request: $0.call.request, sequence: $0.call.sequence)
        }
    }

    mutating func receive(_ id: UInt64, _ response: Response) {
        receive(ServerFrame(id: id, revision: 1, response: response))
    }

    mutating func receive(_ id: UInt64, _ status: Status) {
        receive(ServerFrame(id: id, revision: 1, status: status))
    }

    mutating func receive(_ frame: ServerFrame) {
        session.received(frame, at: time)
        run()
    }

    /// The service answers a frame.
    mutating func answer(_ id: UInt64) { receive(id, .empty) }

    mutating func sendGoAway(lastID: UInt64) {
        let goAway = GoAway(lastID: lastID, drainMilliseconds: 1_000, reason: .draining)
        receive(0, .goAway(goAway))
    }

    mutating func lose(_ ending: Ending = .lost("gone")) {
        session.disconnected(ending, at: time)
        run()
    }

    mutating func cancel(_ caller: Int) {
        session.cancel(UInt64(caller))
        run()
    }

    mutating func close() {
        session.close()
        run()
    }

    /// The callers of the calls that left since the last look.
    mutating func takeSent() -> [Int] {
        defer { sent = [] }
        return sent.map(\.call.caller)
    }

    func error(_ caller: Int) -> FeedClientError? {
        guard let outcomes = outcomes[caller], outcomes.count == 1,
            case .failure(let error) = outcomes[0]
        else { return nil }
        return error
    }

    /// Whether a caller's call ended once, with an answer.
    func isAnswered(_ caller: Int) -> Bool {
        guard let outcomes = outcomes[caller], outcomes.count == 1 else { return false }
        if case .success = outcomes[0] { return true }
        return false
    }

    static func opened(
        hasID: Bool = true,
        room: UInt32 = 256,
        window: UInt32 = 256,
        _ change: (inout Session.Settings) -> Void = { _ in }
    ) -> Self {
        var harness = Self(hasID: hasID, change)
        harness.open()
        harness.connect(hello(inFlight: room, window: window))
        #expect(harness.isAnswered(99))
        harness.demands = []
        return harness
    }
}

extension Status {
    /// The service refuses a call for now.
    static func overloaded(retryAfter: UInt32 = 0) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .overloaded,
            message: "busy",
            retryAfterMilliseconds: retryAfter
        )
    }
}

extension Status {
    /// A follower refuses a change, and may know the leader.
    static func notLeader(_ leader: String = "") -> Status {
        Status(
            code: .unavailable,
            reason: .notLeader,
            message: "a follower",
            isNotExecuted: true,
            leader: leader
        )
    }
}
