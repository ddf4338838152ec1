import FeedClient
import FeedConcurrency
import FeedProto
import FeedTransport

/// One connection of the load: keeps its pipeline as full as allowed and matches answers in order.
final class ClientConnection: LoadConnection {
    enum Stage: Equatable {
        /// Not connected, for good.
        case closed
        /// Not connected, until a pause has passed.
        case pausing(until: UInt64)
        /// Connecting, or waiting for the answer to Hello, which the service may have refused.
        case greeting(isRefused: Bool = false)
        case open
        /// Connected; takes no requests until those sent again are answered.
        case recovering
        /// Connected; takes no requests because the service is about to close it, and is closed at an
        /// instant at the latest.
        case leaving(until: UInt64)
        /// Connected; its life is over, so it takes no requests until those in flight are answered.
        case ending
        /// Closing, to be opened again.
        case reopening
        /// Closing, as the service is a follower; another one is asked at once, or after a pause.
        case moving(pauses: Bool)
    }

    let worker: Worker
    let ledger: VoteLedger
    /// Its number in its thread.
    let index: Int
    /// The id of the oldest request without an answer.
    var headID: UInt64 = 1
    /// Whether answers have passed those to requests before them.
    var hasPassed = false
    var window: PipelineWindow
    var pageToken: [UInt8] = []

    var stage = Stage.closed
    /// Requests that wait to be sent again, in a run with retries.
    var recovery = Recovery()
    /// Whether the end of its first attempt to open was reported.
    var isDecided = false
    /// Whether the service broke the protocol, or is another one: the connection is not retried then.
    var isBroken = false
    var connection: TCPConnection?
    var nextID: UInt64 = 1
    var unwrittenID: UInt64 = 1
    var unexpiredID: UInt64 = 1
    private var lastReadNanoseconds: UInt64 = 0
    var life: RemainingLife
    /// Where it finds the leader; nil in a run with one service.
    var search: LeaderSearch?

    /// The users for whom it votes; none where it votes itself.
    private let voters: VoterShare
    private var stream: RequestStream

    init(_ worker: Worker, index: Int) {
        self.worker = worker
        ledger = worker.ledger
        self.index = index
        let setup = worker.setup
        window = setup.window
        search = setup.services.isEmpty ? nil : LeaderSearch(setup.services)
        life = RemainingLife(
            setup.configuration.connectionLife,
            ages: setup.numbers(.lives, client: index)
        )
        voters = VoterShare(
            voterCount: setup.configuration.voterCount,
            client: setup.firstClient + index,
            clientCount: setup.configuration.clientCount
        )
        stream = setup.stream(client: index, voterCount: voters.count)
    }

    @inline(__always)
    var isOpen: Bool { if case .open = stage { true } else { false } }
    /// Its number over all threads.
    private var number: Int { worker.setup.firstClient + index }
    /// Whether Hello has no answer yet.
    var isGreeting: Bool { if case .greeting = stage { true } else { false } }
    var hasRoom: Bool { isOpen && room > 0 }
    @inline(__always)
    private var room: Int { life.limited(window.room) }
    var hasUnwritten: Bool { unwrittenID < nextID }
    var isWaiting: Bool { headID < nextID }

    @inline(__always)
    func fill() {
        let room = room
        guard room > 0, isOpen else { return }
        let now = MonotonicInstant.now.nanoseconds
        let count = worker.next(index, room: room, at: now)
        guard count > 0 else { return }
        if worker.sendsPlainVotes {
            encodeVotes(count, of: &stream, at: now)
        } else {
            take(count, of: &stream, intended: 0)
            encodeRequests(unwrittenID..<nextID, at: now)
        }
        writeRequests()
        worker.requestsWritten()
    }

    func take(intended: UInt64) { take(1, of: &stream, intended: intended) }

    /// Takes the next requests of this connection's stream, in one access to it.
    @inline(__always)
    private func take(_ count: Int, of stream: inout RequestStream, intended: UInt64) {
        if ledger.isBatching {
            takeBatches(count, of: &stream, intended: intended)
        } else {
            for _ in 0..<count {
                let request = worker.votesAsScheduled ? worker.nextScheduled() : stream.next()
                if request.operation == .vote { ledger.prefetchPostID(request.argument) }
                take(request, request.argument, intended: intended)
            }
        }
        countTaken(count)
    }

    @inline(__always)
    private func countTaken(_ count: Int) {
        window.send(count)
        // Each change of the property is checked at run time, and most lives have no count.
        if life.isCounted { life.take(count) }
        // Counted from here on, so that the end of sending waits for the next write.
        worker.outstandingCount += count
    }

    /// Takes one request; `argument` is its batch where it is one, else its own argument.
    @inline(__always)
    func take(_ request: PlannedRequest, _ argument: UInt32, intended: UInt64) {
        worker.inFlight[index, nextID] = InFlightRequest(
            intended: intended,
            sent: 0,
            sequence: worker.isRetrying && request.operation.isChange
                ? recovery.sequences.take() : 0,
            argument: argument,
            operation: request.operation,
            voter: request.voter
        )
        nextID &+= 1
    }

    @inline(__always)
    func flush(at now: UInt64) {
        encodeRequests(unwrittenID..<nextID, at: now)
        writeRequests()
    }

    @inline(__always)
    private func writeRequests() {
        unwrittenID = nextID
        write()
        if life.isUsedUp { endLife() }
    }

    /// Takes and encodes the next votes of this connection's stream, where nothing else leaves; most
    /// runs are of these.
    @inline(__always)
    private func encodeVotes(_ count: Int, of stream: inout RequestStream, at now: UInt64) {
        let first = nextID
        stream.nextVotes(count) { vote in
            ledger.prefetchPostID(vote.argument)
            worker.inFlight[index, nextID] = InFlightRequest(
                intended: now,
                sent: now,
                argument: vote.argument,
                operation: .vote,
                voter: vote.voter
            )
            nextID &+= 1
        }
        let tallied = ledger.tallied
        worker.output.appendVotes(count) { item in
            let id = first &+ UInt64(item)
            let request = worker.inFlight[index, id]
            return (
                id, 0, actingUserID(request), ledger.votedPostID(request.argument),
                tallied.ballot(request.argument)
            )
        }
        worker.recorder.outcomes.sent += UInt64(count)
        countTaken(count)
    }

    @inline(never)
    private func encodeRequests(_ ids: Range<UInt64>, at now: UInt64) {
        let intended = worker.isOpenLoop ? nil : now
        var operationCount = 0
        for id in ids {
            let request = worker.inFlight.depart(index, id, at: now, intended: intended)
            if worker.recorder.isSplit, worker.sampler.takesNext() {
                encodeMessage(request, id: id, isTimed: true)
            } else {
                encode(request, id: id)
            }
            operationCount &+= ledger.weight(request)
        }
        worker.recorder.outcomes.sent += UInt64(operationCount)
    }

    @inline(__always)
    func encode(_ request: InFlightRequest, id: UInt64) {
        guard request.operation == .vote else { return encodeMessage(request, id: id) }
        guard !ledger.isBatching else { return encodeBatch(request, id: id) }
        worker.output.appendVote(
            id: id,
            sequence: request.sequence,
            actingUserID: actingUserID(request),
            postID: ledger.votedPostID(request.argument),
            direction: ledger.tallied.ballot(request.argument)
        )
    }

    @inline(__always)
    func write() {
        worker.recorder.recordWrite(byteCount: worker.output.byteCount)
        worker.output.withBytes { connection?.write($0) }
        worker.output.removeAll()
    }

    /// Sends a frame that is no request of the load: Hello or a ping.
    private func sendUpkeep(_ request: FeedProto.Request) {
        let now = MonotonicInstant.now.nanoseconds
        worker.inFlight[index, nextID] = InFlightRequest(
            intended: now,
            sent: now,
            argument: 0,
            operation: nil
        )
        append(ClientFrame(id: nextID, request: request))
        nextID += 1
        unwrittenID = nextID
        window.send(1)
        write()
    }

    /// The user of a request; 0 where the connection votes itself.
    @inline(__always)
    func actingUserID(_ request: InFlightRequest) -> UInt64 {
        voters.count > 0 ? voters.userID(request.voter) : 0
    }

    @inline(never)
    private func encodeMessage(_ request: InFlightRequest, id: UInt64, isTimed: Bool = false) {
        guard let operation = request.operation else { return }
        append(
            ClientFrame(
                id: id,
                request: message(operation, request),
                sequence: request.sequence,
                actingUserID: operation == .vote ? UserID(rawValue: actingUserID(request)) : 0,
                isTimed: isTimed
            )
        )
    }

    /// What a request asks for, as the general encoder takes it; a page continues the one seen last.
    private func message(_ operation: Operation, _ request: InFlightRequest) -> FeedProto.Request {
        let configuration = worker.setup.configuration
        let argument = request.argument
        switch operation {
        case .vote where ledger.isBatching:
            let count = ledger.batches.count(argument)
            let votes = (0..<count).map { castVote(ledger.batches.vote($0, of: argument)) }
            return .batchCastVotes(BatchCastVotesRequest(votes: votes))
        case .vote:
            return .castVote(castVote(argument))
        case .get:
            return .getPost(GetPostRequest(id: PostID(rawValue: ledger.posts.id(argument))))
        case .create:
            let title = PostText.title(maker: number + 1, number: Int(argument))
            let post = Post(title: title, text: PostText.body)
            return .createPost(CreatePostRequest(feed: configuration.feed, post: post))
        case .list, .page:
            return .listPosts(
                ListPostsRequest(
                    feed: configuration.feed,
                    order: .top,
                    pageSize: Int32(configuration.pageSize),
                    pageToken: operation == .page ? pageToken : []
                )
            )
        }
    }

    private func castVote(_ vote: UInt32) -> CastVoteRequest {
        let direction = VoteDirection(rawValue: Int32(ledger.tallied.ballot(vote).rawValue))
        return CastVoteRequest(
            postID: PostID(rawValue: ledger.votedPostID(vote)),
            direction: direction
        )
    }

    private func append(_ frame: ClientFrame) {
        do throws(FrameError) {
            try worker.encoder.append(frame)
        } catch {
            preconditionFailure("No request of a load comes near the frame limit: \(error)")
        }
        worker.encoder.withBytes { worker.output.append($0) }
        worker.encoder.removeAll()
    }
}

extension ClientConnection: ConnectionHandler {
    func connect() {
        stage = .greeting()
        do {
            let setup = worker.setup
            let configuration = setup.configuration
            if let service = search?.next() {
                try worker.loop.connect(
                    to: service.address,
                    timeout: min(configuration.connectTimeout, LoadService.patience),
                    security: service.security,
                    handler: self
                )
            } else {
                try worker.loop.connect(
                    to: setup.address,
                    timeout: configuration.connectTimeout,
                    security: configuration.tlsTarget,
                    handler: self
                )
            }
        } catch {
            worker.recorder.totals.failures.count(Failures.Cause(connect: error))
            ended(isRetried: worker.isRetrying)
        }
    }

    func close() {
        guard stage != .closed else { return }
        stage = .closed
        abandonAll()
        connection?.closeAfterFlush()
        connection = nil
    }

    func sweep(_ now: UInt64) {
        switch stage {
        case .closed: return
        case .pausing(let end):
            if now >= end { connect() }
            return
        default: break
        }
        if expireRequests(now) { return }
        if isOpen, !isWaiting, now - lastReadNanoseconds >= Self.pingNanoseconds {
            lastReadNanoseconds = now
            sendUpkeep(.ping(PingRequest()))
        }
        if life.isOver(at: now) { endLife() }
        if !isOpen { proceed(at: now) }
    }

    func connectionOpened(_ connection: TCPConnection) {
        guard isGreeting else { return connection.reset() }
        self.connection = connection
        // Not changed in place: a call during a change of the property asks for a check of each access to it.
        var next = life
        next.begin(at: MonotonicInstant.now.nanoseconds)
        life = next
        var hello = HelloRequest(clientName: "loadgen")
        hello.serviceKey = worker.setup.configuration.serviceKey?.bytes ?? []
        if let identity = worker.setup.identity {
            hello.clientID = identity.clientID.bytes
            hello.channel = RunIdentity.channel(client: number)
        } else {
            // Never from the seed: the service remembers this connection by this id.
            hello.clientID = ClientID().bytes
        }
        sendUpkeep(.hello(hello))
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        let now = MonotonicInstant.now.nanoseconds
        lastReadNanoseconds = now
        var offset = 0
        do throws(ProtocolViolation) {
            offset = try receive(bytes, at: now)
        } catch {
            worker.recorder.totals.failures.countProtocolError(error.description)
            isBroken = true
            connection.reset()
            return ReadProgress(consumedByteCount: bytes.byteCount, wantsIteration: false)
        }
        worker.recorder.recordRead(byteCount: offset)
        if !isOpen { proceed(at: now) }
        worker.goOn(index) { fill() }
        return ReadProgress(consumedByteCount: offset, wantsIteration: false)
    }

    func connectionEndedInput(_ connection: TCPConnection) {
        connection.closeAfterFlush()
    }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        guard stage != .reopening else { return reopen() }
        if case .moving(let pauses) = stage { return move(pauses: pauses) }
        // A failed attempt has no connection, and events of an older connection are known already.
        guard stage != .closed, self.connection == nil || self.connection === connection else {
            return
        }
        worker.count(reason)
        ended(isRetried: worker.isRetrying && !isBroken)
    }

    func helloAnswered(_ hello: HelloResponse) {
        guard isGreeting else { return }
        if let number = search?.number {
            guard hello.role != .follower else { return leaveFollower(hello.leaderAddress) }
            search?.found()
            if hello.role == .leader { worker.failover?.found(leader: number) }
        }
        guard worker.isRetrying else {
            stage = .open
            return decide(isOpen: true)
        }
        resume(hello)
    }

    /// Records how the first attempt to open ended; later calls change nothing.
    func decide(isOpen: Bool) {
        guard !isDecided else { return }
        isDecided = true
        worker.connectionDecided(isOpen: isOpen)
    }

    /// The connection is gone for good: requests in flight are lost.
    func giveUp() {
        stage = .closed
        connection = nil
        abandonAll()
        if isDecided { worker.connectionLost() } else { decide(isOpen: false) }
    }

    /// Takes no more requests on this connection, whose life is over.
    private func endLife() {
        guard isOpen else { return }
        stage = .ending
    }

    /// Closes the connection, which has no request in flight.
    func closeToReopen() {
        stage = .reopening
        connection?.closeAfterFlush()
    }

    /// Opens the connection again after its end; the service sees a new one.
    private func reopen() {
        // A page continues only for the caller who began it.
        pageToken = []
        worker.recorder.totals.reopenedCount += 1
        connectAgain()
    }

    /// Opens a connection in place of one without requests in flight.
    private func connectAgain() {
        connection = nil
        (headID, nextID, unwrittenID, unexpiredID) = (1, 1, 1, 1)
        window = worker.setup.window
        connect()
    }

    /// The connection ended, or never opened.
    private func ended(isRetried: Bool) {
        if isGreeting, connection != nil { recovery.sequences.lostHello() }
        connection = nil
        if search != nil, !isBroken {
            if isGreeting, search?.goesOn() == true { return connectAgain() }
            search?.turn()
        }
        if isRetried { recover() } else { giveUp() }
    }

    /// A follower has answered Hello, which takes no changes.
    private func leaveFollower(_ leader: String) {
        search?.turn(to: leader)
        let goesOn = search?.goesOn() == true
        if !goesOn { worker.recorder.totals.failures.countServerError(Self.withoutLeader) }
        stage = .moving(pauses: !goesOn)
    }

    /// Goes from a follower to the next service.
    private func move(pauses: Bool) {
        guard pauses else { return connectAgain() }
        connection = nil
        if worker.isRetrying { recover() } else { giveUp() }
    }

    private static let withoutLeader = "UNAVAILABLE/NOT_LEADER"

    /// Handles overdue requests; returns whether the connection was given up because of them.
    private func expireRequests(_ now: UInt64) -> Bool {
        unexpiredID = max(unexpiredID, headID)
        while unexpiredID < nextID {
            var request = worker.inFlight[index, unexpiredID]
            let since = max(request.sent, recovery.resentNanoseconds)
            guard since + worker.timeoutNanoseconds <= now else { break }
            if worker.isRetrying, request.operation != nil {
                // The outcome is unknown until the service is asked again.
                worker.recorder.totals.failures.count(.requestTimeout)
                connection?.reset()
                return true
            }
            request.marks.insert(.expired)
            worker.inFlight[index, unexpiredID] = request
            if request.operation != nil {
                worker.end(request, as: .expired, client: index)
            } else if isGreeting {
                // A connection whose Hello gets no answer never opened.
                connection?.reset()
            }
            unexpiredID += 1
        }
        return false
    }

    private func abandonAll() {
        for id in headID..<nextID {
            let request = worker.inFlight[index, id]
            guard request.operation != nil, !request.marks.contains(.expired) else { continue }
            worker.end(request, as: .lost, client: index)
        }
        headID = nextID
        abandonBacklog()
    }

    /// A service answers within its 90 s of patience if it is pinged after 30 s of silence.
    private static let pingNanoseconds: UInt64 = 30_000_000_000
}

@available(*, unavailable)
extension ClientConnection: Sendable {}

/// What is left of a connection's life, after which it is closed and opened again on purpose, as
/// `--reconnect-every` and `--conn-life` ask for.
package struct RemainingLife {
    private let life: ConnectionLife
    private var ages: RandomStream
    /// Requests that the connection may still take; the greatest number where they do not end it.
    private var requestCount = UInt64.max
    /// When its age ends it, in nanoseconds of the monotonic clock.
    private var endNanoseconds = UInt64.max

    /// A life that has not begun, which has no end yet.
    package init(_ life: ConnectionLife, ages: RandomStream) {
        self.life = life
        self.ages = ages
    }

    /// Begins a life, whose age is drawn.
    package mutating func begin(at now: UInt64) {
        requestCount = life.requestCount ?? .max
        endNanoseconds = life.nextAge(&ages).map { now + $0 } ?? .max
    }

    @inline(__always)
    package var isCounted: Bool { requestCount != .max }

    @inline(__always)
    package var isUsedUp: Bool { requestCount == 0 }

    package func isOver(at now: UInt64) -> Bool { now >= endNanoseconds }

    /// How many of the requests for which there is room it may take.
    @inline(__always)
    package func limited(_ room: Int) -> Int {
        isCounted ? min(room, Int(clamping: requestCount)) : room
    }

    /// Counts requests of a life that is counted; no more than ``limited(_:)`` allows.
    @inline(__always)
    package mutating func take(_ count: Int) { requestCount -= UInt64(count) }
}
