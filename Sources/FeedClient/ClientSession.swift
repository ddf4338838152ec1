internal import DequeModule
package import FeedConcurrency
package import FeedProto

/// The life of a client: its connections, one after another, and its calls, each of which ends once.
///
/// ```
///          ┌────────────────────── wait for the backoff ───────────────────────┐
///          ▼                                                                   │
/// idle ─► connecting ─► connected ─► greeting ─► open ─► draining ─► closing ─►┤
///              └────────────┴────────────┴─────────┴─────────┴────── lost ─────┘   ─► ended
/// ```
///
/// The value does no I/O and reads no clock. A driver feeds it with what happens, and performs what
/// ``nextStep(at:hasRoom:)`` says until that is to wait. It connects only while calls or watches
/// wait: an idle client whose connection is lost stays without one.
package struct ClientSession<Caller, Randomness: RandomNumberGenerator> {
    enum State {
        /// There is no connection, and none is tried before `earliest`.
        case idle(earliest: MonotonicInstant)
        /// The driver opens a connection.
        case connecting(deadline: MonotonicInstant)
        /// The connection is open, and its Hello is to be sent.
        case connected(deadline: MonotonicInstant)
        /// The service has to answer Hello.
        case greeting(Exchange, deadline: MonotonicInstant)
        /// Calls leave.
        case open(Exchange)
        /// The service takes no more calls and answers those it took.
        case draining(Exchange)
        /// The driver closes the connection.
        case closing
        case ended
        /// No state of a connection: it stands in for one while its exchange is changed in place, and
        /// no input meets it.
        case modifying
    }

    let settings: Settings
    /// How many services the driver knows: that many are asked in one try for the one that leads.
    package var serviceCount = 1
    let backoff: Backoff
    var randomness: Randomness
    var retryAllowance: RetryAllowance
    var sequences: SequenceNumbers
    /// What each connection says first; its session token changes as the client signs in and out.
    var hello: HelloRequest
    /// Whether the Hello that was sent last has shown another session than the next one will.
    var hasStaleHello = false
    /// Whether the connection is of an earlier session than ``hello`` has: that the earlier one has
    /// ended says nothing of it.
    var isOfFormerSession = false
    /// What the client has not been told yet, in order.
    var news: [SessionNews] = []

    var state: State
    /// Whether calls are taken; a session that takes none ends with those it has.
    var takesCalls = true
    /// Where the next try to connect begins.
    var destination = Destination.same
    /// How many services of the try of now have answered or failed, and do not serve the client.
    var failedServiceCount = 0
    /// What the follower at the connection's end has said of the leader's address, empty if nothing; nil at a
    /// leader, and without a cluster.
    var leaderOfFollower: String?
    /// The driver's connection is to be dropped before the next step.
    var hasToAbandon = false
    /// Why the service said it would close the connection.
    var announcedEnding: Ending?
    /// Why the latest connection ended, for calls that find none before their deadline.
    var lastEnding: Ending?
    /// Consecutive tries that got no call answered.
    var round = 0
    /// What was sent again and opened again so far.
    package internal(set) var retries = RetryCounts()
    /// What the service answered to the latest Hello; nil before the first answer.
    var service: HelloResponse?
    /// The most calls in flight; one, until the service has announced how many it takes.
    var maximumInFlightCount = 1
    /// The calls that have not ended, by their tokens.
    var calls = NumberTable<Call>()
    /// Calls that wait for a Hello to be answered; they may have ended.
    var openings: [UInt64] = []
    /// Calls that never left, in order.
    var waiting = Deque<UInt64>()
    /// Calls to send again now, which leave before those that never left.
    var again = Deque<UInt64>()
    var delayed: [(due: MonotonicInstant, token: UInt64)] = []
    /// Calls with a sequence, in the order of their sequences; the first may have ended.
    var numbered = Deque<UInt64>()
    /// The watches that have not ended, and what their readers have not got yet.
    var watches = WatchTable()
    /// Results that callers have not got yet.
    var completions: [(Caller, Result<Answer, FeedClientError>)] = []
    /// No deadline and no delay ends before this.
    var wake: MonotonicInstant?

    package init(_ settings: Settings, randomness: Randomness, at now: MonotonicInstant) {
        self.settings = settings
        self.randomness = randomness
        backoff = Backoff(settings.retry)
        retryAllowance = RetryAllowance(settings.retry)
        sequences = SequenceNumbers(hasIdentity: !settings.hello.clientID.isEmpty)
        hello = settings.hello
        state = .idle(earliest: now)
    }

    package var callCount: Int { calls.count }

    /// The instance of the service that answered the latest Hello; nil before the first answer.
    package var instanceID: UInt64? { service?.instanceID }

    /// Whether a connection is open and its Hello is answered.
    package var isConnected: Bool {
        switch state {
        case .open, .draining: true
        case .idle, .connecting, .connected, .greeting, .closing, .ended, .modifying: false
        }
    }

    /// Why the latest connection ended, while calls wait for another one; nil if none waits.
    package var causeOfWait: Ending? {
        guard case .idle = state, !calls.isEmpty else { return nil }
        return lastEnding
    }

    /// How many tokens wait to leave, including those of calls that ended meanwhile.
    package var waitingCount: Int { waiting.count }

    /// How many frames wait for their answer on the current connection.
    package var inFlightCount: Int {
        switch state {
        case .greeting(let exchange, _), .open(let exchange), .draining(let exchange):
            exchange.inFlightCount
        case .idle, .connecting, .connected, .closing, .ended: 0
        case .modifying: preconditionFailure("A session was asked while it changed.")
        }
    }

    /// What the driver does next; O(1), amortised, unless a deadline has passed.
    ///
    /// `hasRoom` is whether the driver takes more frames to send. After ``Step/wait(until:)`` and
    /// ``Step/finish`` there is no other step.
    package mutating func nextStep(at now: MonotonicInstant, hasRoom: Bool) -> Step {
        if let wake, wake <= now { passTime(to: now) }
        if hasToAbandon {
            hasToAbandon = false
            return .abandon
        }
        // Who gets a result of a call may look at what the call has changed.
        if !news.isEmpty { return .tell(news.removeFirst()) }
        if !completions.isEmpty {
            defer { completions = [] }
            return .complete(completions)
        }
        if let report = watches.nextReport() { return .watch(report) }
        switch state {
        case .idle(let earliest): return stepWhileIdle(earliest, at: now)
        case .connecting(let deadline):
            guard now < deadline else { return abandonTry("It did not open in time.", at: now) }
            return .wait(until: earlier(deadline, wake))
        case .connected(let deadline):
            var exchange = Exchange()
            let id = exchange.takeID()
            state = .greeting(exchange, deadline: deadline)
            return .sendHello(id: id, hello)
        case .greeting(_, let deadline):
            guard now < deadline else { return abandonTry("Hello was not answered.", at: now) }
            return .wait(until: earlier(deadline, wake))
        case .open: return stepWhileOpen(at: now, hasRoom: hasRoom)
        case .draining(let exchange):
            guard !exchange.tokens.contains(where: { calls[$0] != nil }) else {
                return .wait(until: wake)
            }
            state = .closing
            return .close
        case .closing: return .wait(until: wake)
        case .ended: return .finish
        case .modifying: preconditionFailure("A session was asked for a step while it changed.")
        }
    }

    private mutating func stepWhileIdle(
        _ earliest: MonotonicInstant,
        at now: MonotonicInstant
    ) -> Step {
        guard takesCalls else {
            state = .ended
            return .finish
        }
        guard !calls.isEmpty || watches.hasWaiting else {
            return .wait(until: watches.count > 0 ? wake : nil)
        }
        guard now >= earliest else { return .wait(until: earlier(earliest, wake)) }
        let timeout = settings.connectTimeout.withinADay
        state = .connecting(deadline: now.advanced(by: timeout))
        defer { destination = .same }
        return .connect(timeout: timeout, destination, goingOn: failedServiceCount > 0)
    }

    private mutating func stepWhileOpen(at now: MonotonicInstant, hasRoom: Bool) -> Step {
        if hasRoom {
            if let leader = leaderOfFollower, isChangeNext {
                turn(to: leader)
                drain(after: .max)
                return nextStep(at: now, hasRoom: hasRoom)
            }
            if let frame = nextWatchFrame() { return .watch(frame) }
            if let departure = depart(at: now) { return .send(departure) }
        }
        guard !takesCalls, calls.isEmpty else { return .wait(until: wake) }
        state = .closing
        return .close
    }

    private mutating func abandonTry(_ reason: String, at now: MonotonicInstant) -> Step {
        failTry(.cannotConnect(reason), at: now)
        return .abandon
    }

    /// Changes the exchange of a connection in place, from its Hello on.
    mutating func withExchange<Value>(_ body: (inout Exchange) -> Value) -> Value {
        switch state {
        case .greeting(var exchange, let deadline):
            state = .modifying
            defer { state = .greeting(exchange, deadline: deadline) }
            return body(&exchange)
        case .open(var exchange):
            state = .modifying
            defer { state = .open(exchange) }
            return body(&exchange)
        case .draining(var exchange):
            state = .modifying
            defer { state = .draining(exchange) }
            return body(&exchange)
        case .idle, .connecting, .connected, .closing, .ended, .modifying:
            preconditionFailure("A session exchanged frames without a connection.")
        }
    }

    /// Makes sure that ``nextStep(at:hasRoom:)`` looks at deadlines and delays then.
    mutating func note(_ instant: MonotonicInstant) { wake = earlier(instant, wake) }
}

private func earlier(_ first: MonotonicInstant, _ second: MonotonicInstant?) -> MonotonicInstant {
    second.map { min(first, $0) } ?? first
}

extension ClientSession {
    /// What tells sessions apart: their Hello and how patient they are.
    package struct Settings {
        /// What the client says of itself: its name, its id and its channel.
        package var hello = HelloRequest()
        package var retry = RetryPolicy()
        /// How long one try to connect may take, with the answer to Hello.
        package var connectTimeout = Duration.seconds(5)
        /// Whether the first connection is tried again until its caller's deadline.
        package var waitsForService = false
        /// Whether a lost connection is followed by another one; without, its end is the session's.
        package var reconnects = true
        /// Whether a follower of a cluster is asked, too, until a change has to be made.
        package var reads = ReadPlace.leader

        package init() {}
    }

    /// One call, from its submission to its end.
    package struct Call {
        package let caller: Caller
        package let request: Request
        /// The revision that the answer must not be older than; 0 is any.
        package let minimumRevision: UInt64
        /// The user whom the client acts for; 0 is the client itself.
        package let actingUserID: UserID
        /// The timeout that its caller gave, for the error that names it.
        package let timeout: Duration
        /// When the timeout is over, however often the call is sent.
        package let deadline: MonotonicInstant
        /// The sequence of a change, which it keeps; 0 is none.
        package internal(set) var sequence: UInt64 = 0
        /// How often it was sent, without the frames that a GoAway excluded.
        package internal(set) var attemptCount = 0
        /// Whether a frame of it is on the current connection.
        var isInFlight = false
        /// Whether it was sent on a lost connection and may have been executed there.
        var isDoubtful = false
        /// Whether a follower has left it to the leader.
        var isLeftToLeader = false
        /// How the session ended that the call in flight was sent under; nil if it has not.
        var endOfSession: EndOfSession?

        package init(
            caller: Caller,
            request: Request,
            minimumRevision: UInt64 = 0,
            actingUserID: UserID = 0,
            timeout: Duration,
            deadline: MonotonicInstant
        ) {
            self.caller = caller
            self.request = request
            self.minimumRevision = minimumRevision
            self.actingUserID = actingUserID
            self.timeout = timeout
            self.deadline = deadline
        }

        /// The call under a sequence that its caller keeps, also beyond the process.
        ///
        /// A service that no longer knows may have executed one that may have left before.
        package func numbered(_ sequence: UInt64, mayHaveLeft: Bool) -> Call {
            var call = self
            call.sequence = sequence
            call.isDoubtful = mayHaveLeft
            return call
        }

        /// The call's effect, if it never gets an answer.
        var effect: CallEffect {
            (isInFlight || isDoubtful) && request.mayHaveEffect ? .unknown : .none
        }

        /// Whether it is a change that has no sequence yet.
        var wantsSequence: Bool { sequence == 0 && request.takesSequence }

        /// Whether it may be sent again after its connection was lost: a read has no effect, and a
        /// numbered change has it once.
        var isRepeatable: Bool { !request.mayHaveEffect || sequence > 0 }
    }

    /// The refusal that says how a session ended; apart, so that calls stay small.
    final class EndOfSession: Sendable {
        let status: Status

        init(_ status: Status) { self.status = status }
    }

    package struct Departure {
        package let id: UInt64
        package let call: Call
    }

    /// What the driver does next.
    package enum Step {
        /// Give callers their results; one at least.
        case complete([(Caller, Result<Answer, FeedClientError>)])
        /// Open a connection within the time, and say how that ends.
        ///
        /// A try that goes on asks no service again.
        case connect(timeout: Duration, Destination, goingOn: Bool)
        /// Send Hello as the first frame of the connection.
        case sendHello(id: UInt64, HelloRequest)
        case send(Departure)
        case watch(WatchTable.Step)
        /// Let the client know.
        case tell(SessionNews)
        /// Send what is buffered, close the connection, and say when it has ended.
        case close
        /// Drop the connection, or the try to open one; nothing more is heard of it.
        case abandon
        /// Nothing before an input comes, or before the instant.
        case wait(until: MonotonicInstant?)
        /// Nothing ever again.
        case finish
    }
}

/// What a connection has learnt of its service and of the one who is signed in.
package enum SessionNews: Sendable {
    /// The service has answered a Hello with this session's token, empty if there is none.
    case greeted(HelloResponse, token: [UInt8])
    /// A call has begun a session.
    case signedIn(UserSession)
    /// A call has ended the session.
    case signedOut
    /// The service has ended the session, which the client's other connections forget, too.
    case ended(EndedSession)
}

/// A session that the service has ended, and the refusal that said so.
package struct EndedSession: Sendable {
    let token: [UInt8]
    let status: Status

    package init(token: [UInt8], status: Status) {
        self.token = token
        self.status = status
    }
}

extension ClientSession.Call: Sendable where Caller: Sendable {}

extension ClientSession.Settings {
    /// The settings of a connection of a client, which counts its connections from 0; a channel that the
    /// configuration leaves open is drawn at random.
    init(_ configuration: ClientConfiguration, connection: Int) {
        hello = HelloRequest(
            clientName: configuration.clientName,
            clientID: configuration.clientID?.bytes ?? [],
            sessionToken: configuration.sessionToken?.bytes ?? [],
            serviceKey: configuration.serviceKey?.bytes ?? [],
            channel: configuration.clientID == nil
                ? 0
                : configuration.channel.map { $0 &+ UInt32(connection) }
                    ?? UInt32.random(in: .min ... .max)
        )
        retry = configuration.retry
        connectTimeout = configuration.connectTimeout
        waitsForService = configuration.waitsForService
        reconnects = configuration.reconnects
        reads = configuration.reads
    }
}

/// The frames of one connection that wait for their answers; ids begin at 1 on each connection.
struct Exchange {
    /// The call of each frame without an answer; 0 is none, as for Hello and pings.
    private var inFlight = NumberTable<UInt64>()
    private var lastID: UInt64 = 0

    var inFlightCount: Int { inFlight.count }

    /// The calls that wait for their answer, in the order in which they were sent; O(n log n).
    var tokens: [UInt64] { inFlight.sorted { $0.key < $1.key }.map(\.value).filter { $0 > 0 } }

    /// The id of the next frame, which is of a call or of none; O(1).
    mutating func takeID(for token: UInt64 = 0) -> UInt64 {
        lastID += 1
        inFlight[lastID] = token
        return lastID
    }

    /// The id of the next frame, of which no answer is awaited here; O(1).
    mutating func takeIDWithoutAnswer() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// The call that an answer belongs to, 0 for none; nil if no frame waits for it; O(1).
    mutating func take(_ id: UInt64) -> UInt64? { inFlight.removeValue(for: id) }

    /// The calls after a frame, in their order, which wait no more.
    mutating func takeCalls(after id: UInt64) -> [UInt64] {
        let taken = inFlight.filter { $0.key > id }.sorted { $0.key < $1.key }
        for (id, _) in taken { inFlight[id] = nil }
        return taken.map(\.value).filter { $0 > 0 }
    }
}

/// What the connections of a client saw so far.
package struct ConnectionHistory: Sendable, Equatable {
    package let retries: RetryCounts
    /// The instance of the service that answered Hello last; nil before the first answer.
    package let instanceID: UInt64?
    /// Whether a connection is open and its Hello is answered.
    package let isConnected: Bool
}

/// How often calls were sent again and connections were opened again.
package struct RetryCounts: Sendable, Equatable {
    /// Calls sent again, each time counted.
    package var retryCount: UInt64 = 0
    /// Connections that were opened again.
    package var reconnectCount: UInt64 = 0
    /// Changes sent again that the service had executed before, according to the last sequence it
    /// named.
    package var duplicateCount: UInt64 = 0

    package init() {}

    package mutating func add(_ other: RetryCounts) {
        retryCount += other.retryCount
        reconnectCount += other.reconnectCount
        duplicateCount += other.duplicateCount
    }
}
