import DequeModule
package import FeedConcurrency
import FeedProto

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
        /// The client is closed.
        case ended
        /// No state of a connection: it stands in for one while its exchange is changed in place, and
        /// no input meets it.
        case modifying
    }

    let settings: Settings
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

    /// The session that has ended here, until the client's other connections know it.
    var endedSession: EndedSession?

    var state: State
    /// Whether calls are taken; a session that takes none ends with those it has.
    var takesCalls = true
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
    /// The instance of the service that answered the latest Hello; nil before the first answer.
    package internal(set) var instanceID: UInt64?
    /// The most calls in flight; one, until the service has announced how many it takes.
    var maximumInFlightCount = 1

    /// The calls that have not ended, by their tokens.
    var calls = NumberTable<Call>()
    /// The call that waits for the first Hello to be answered.
    var opening: UInt64?
    /// Calls that never left, in order.
    var waiting = Deque<UInt64>()
    /// Calls to send again now, which leave before those that never left.
    var again = Deque<UInt64>()
    /// Calls to send again later.
    var delayed: [(due: MonotonicInstant, token: UInt64)] = []
    /// Calls with a sequence, in the order of their sequences; the first may have ended.
    var numbered = Deque<UInt64>()
    /// The watches that have not ended, and what their readers have not got yet.
    var watches = WatchTable()
    /// Results that callers have not got yet.
    var completions: [(Caller, Result<Answer, FeedClientError>)] = []
    /// No deadline and no delay ends before this.
    var wake: MonotonicInstant?

    /// A session without a connection.
    package init(_ settings: Settings, randomness: Randomness, at now: MonotonicInstant) {
        self.settings = settings
        self.randomness = randomness
        backoff = Backoff(settings.retry)
        retryAllowance = RetryAllowance(settings.retry)
        sequences = SequenceNumbers(hasIdentity: !settings.hello.clientID.isEmpty)
        hello = settings.hello
        state = .idle(earliest: now)
    }

    /// How many calls have not ended.
    package var callCount: Int { calls.count }

    /// Whether a connection is open and its Hello is answered.
    package var isConnected: Bool {
        switch state {
        case .open, .draining: true
        case .idle, .connecting, .connected, .greeting, .closing, .ended, .modifying: false
        }
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
    /// - Parameters:
    ///   - now: The time.
    ///   - hasRoom: Whether the driver takes more frames to send.
    /// - Returns: The step; after ``Step/wait(until:)`` and ``Step/finish`` there is no other.
    package mutating func nextStep(at now: MonotonicInstant, hasRoom: Bool) -> Step {
        if let wake, wake <= now { passTime(to: now) }
        if hasToAbandon {
            hasToAbandon = false
            return .abandon
        }
        if !completions.isEmpty {
            defer { completions = [] }
            return .complete(completions)
        }
        if let report = watches.nextReport() { return .watch(report) }
        if let ended = endedSession.take() { return .tellOthers(ended) }
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
        return .connect(timeout: timeout)
    }

    private mutating func stepWhileOpen(at now: MonotonicInstant, hasRoom: Bool) -> Step {
        if hasRoom {
            if let frame = nextWatchFrame() { return .watch(frame) }
            if let departure = depart(at: now) { return .send(departure) }
        }
        guard !takesCalls, calls.isEmpty else { return .wait(until: wake) }
        state = .closing
        return .close
    }

    private mutating func abandonTry(_ reason: String, at now: MonotonicInstant) -> Step {
        endConnection(.cannotConnect(reason), at: now)
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
    mutating func note(_ instant: MonotonicInstant) {
        wake = earlier(instant, wake)
    }
}

/// The earlier one of an instant and another, where there is one.
private func earlier(_ first: MonotonicInstant, _ second: MonotonicInstant?) -> MonotonicInstant {
    second.map { min(first, $0) } ?? first
}
