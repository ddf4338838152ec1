import DequeModule
import FeedConcurrency
import FeedProto
import FeedTransport
import Foundation
import Histogram

struct ResponderPlan: Sendable, Equatable {
    /// The shortest time for which a vote is held; nil answers at once and records nothing.
    var shortest: Duration?
    /// The mean of the exponential time that is added to it.
    var mean = Duration.zero
    /// When the stall begins, after the first vote; nil is no stall.
    var stallAfter: Duration?
    /// How long no answer leaves then.
    var stall = Duration.zero
    var seed: UInt64 = 1
}

/// What a responder recorded about its own answers, on the clock that the generator reads too.
struct ResponderRecord: Sendable {
    /// From each vote's arrival to its answer.
    var held = LatencyScale.makeHistogram()
    /// When each answer left, in nanoseconds, in their order.
    var answerInstants: [UInt64] = []
}

/// A service in this process, over real sockets of the loopback interface, that does nothing but
/// answer after known delays: the truth that the generator's figures are compared with.
///
/// Its loop has a thread of its own.
final class Responder {
    let address: SocketAddress
    private let thread: EventLoopThread
    private let record: ResponderBox

    /// Starts a responder and waits until it listens.
    init(_ plan: ResponderPlan) throws(RunFailure) {
        let box = ResponderBox()
        do throws(TransportError) {
            thread = try EventLoopThread(
                name: "responder",
                configuration: .load,
                budget: BufferBudget()
            ) { loop in
                box.open(
                    Result { () throws(TransportError) in
                        loop.context = try ResponderLoop(plan, box, on: loop)
                        return try TCPListener(
                            at: .loopback(port: 0),
                            on: loop,
                            targets: [loop.mailbox]
                        ) { ResponderConnection($0) }.address
                    }
                )
            }
        } catch {
            throw .system(error.description)
        }
        record = box
        do throws(TransportError) {
            address = try box.address()
        } catch {
            thread.stop()
            thread.join()
            throw .system(error.description)
        }
    }

    /// Stops the responder and returns what it recorded; blocks until its thread has ended.
    func stop() -> ResponderRecord {
        thread.stop()
        thread.join()
        return record.record
    }
}

@available(*, unavailable)
extension Responder: Sendable {}

/// What a responder's thread hands to the thread that started it.
final class ResponderBox: Sendable {
    private let opened = Lock<Result<SocketAddress, TransportError>?>(nil)
    private let answered = Lock(ResponderRecord())
    private let isDecided = Semaphore()

    func open(_ result: Result<SocketAddress, TransportError>) {
        opened.withLock { $0 = result }
        isDecided.signal()
    }

    /// Where the responder listens, once it does; for one caller.
    func address() throws(TransportError) -> SocketAddress {
        isDecided.wait()
        let result = opened.withLock { $0 }
        guard let result else { preconditionFailure("A signal follows its result.") }
        return try result.get()
    }

    func add(received: UInt64, answered instant: UInt64) {
        answered.withLock { record in
            record.held.record(min(instant &- received, LatencyScale.highestNanoseconds))
            record.answerInstants.append(instant)
        }
    }

    var record: ResponderRecord { answered.withLock { $0 } }
}

/// The part of a responder that its loop owns: the posts, the delays and the answers that wait.
final class ResponderLoop {
    private let plan: ResponderPlan
    private let box: ResponderBox
    private let timer: PreciseTimer
    private var stream: RandomStream
    private var stall: Range<UInt64>?
    private var scores: [Int64] = []
    private var connections: [ObjectIdentifier: ResponderConnection] = [:]

    init(_ plan: ResponderPlan, _ box: ResponderBox, on loop: EventLoop) throws(TransportError) {
        self.plan = plan
        self.box = box
        stream = RandomStream(seed: plan.seed, thread: 0, client: 0)
        timer = try loop.addPreciseTimer { [unowned loop] in
            (loop.context as? ResponderLoop)?.release()
        }
    }

    var isDelaying: Bool { plan.shortest != nil }

    func add(_ connection: ResponderConnection) {
        connections[ObjectIdentifier(connection)] = connection
    }

    func remove(_ connection: ResponderConnection) {
        connections[ObjectIdentifier(connection)] = nil
    }

    func cast(_ vote: CastVoteRequest) -> CastVoteResponse {
        let place = Int(clamping: vote.postID.rawValue) - 1
        let isKnown = scores.indices.contains(place)
        if isKnown { scores[place] += 1 }
        let score = isKnown ? scores[place] : 0
        return CastVoteResponse(
            postID: vote.postID,
            score: score,
            upvoteCount: UInt64(score),
            downvoteCount: 0,
            vote: .up
        )
    }

    /// When the answer to a vote is due that arrived at `received`: after its delay, and no
    /// earlier than the end of a stall that it falls into.
    func due(_ received: UInt64) -> UInt64 {
        if stall == nil, let after = plan.stallAfter {
            let start = received + after.nanoseconds
            stall = start..<start + plan.stall.nanoseconds
        }
        let extra = -log(1 - stream.nextUnit()) * Double(plan.mean.nanoseconds)
        let due = received + (plan.shortest ?? .zero).nanoseconds + UInt64(extra)
        guard let stall, stall.contains(due) else { return due }
        return stall.upperBound
    }

    func record(received: UInt64, answered: UInt64) {
        box.add(received: received, answered: answered)
    }

    /// Sends the answers that are due, and waits for the next one.
    func release() {
        let now = MonotonicInstant.now.nanoseconds
        for connection in connections.values { connection.release(at: now) }
        wait()
    }

    func wait() {
        guard let next = connections.values.compactMap(\.nextDue).min() else { return }
        timer.arm(at: MonotonicInstant(nanoseconds: next))
    }

    /// The answer to a call that is no vote; a call that no run makes gets a pong.
    func answer(_ frame: ClientFrame) -> ServerFrame {
        ServerFrame(id: frame.id, revision: 0, response: response(frame.request))
    }

    private func response(_ request: FeedProto.Request?) -> Response {
        switch request {
        case .hello:
            .hello(
                HelloResponse(
                    serverName: "responder",
                    instanceID: 1,
                    serverTimeMilliseconds: 0,
                    limits: nil,
                    capabilities: [],
                    isClientKnown: false,
                    lastSequence: 0
                )
            )
        case .listFeeds:
            .listFeeds(ListFeedsResponse(feeds: [Feed(name: Self.feed, voteMode: .tally)]))
        case .createPost(let create): .post(make(create.post ?? Post()))
        case .castVote(let vote): .castVote(cast(vote))
        default: .ping(PingResponse(payload: [], serving: .serving))
        }
    }

    private func make(_ post: Post) -> Post {
        scores.append(0)
        var made = post
        made.id = PostID(rawValue: UInt64(scores.count))
        made.feed = Self.feed
        return made
    }

    static let feed = "posts"
}

@available(*, unavailable)
extension ResponderLoop: Sendable {}

/// One connection of a responder.
///
/// Answers leave in the order of the calls, so a vote waits for the answers before its own.
final class ResponderConnection: ConnectionHandler {
    private struct Held {
        let id: UInt64
        let answer: CastVoteResponse
        let received: UInt64
        let due: UInt64
    }

    private unowned let connection: TCPConnection
    private unowned let loop: ResponderLoop
    private var held = Deque<Held>()
    private var decoder = MessageDecoder()
    private var encoder = FrameEncoder()

    init(_ connection: TCPConnection) {
        guard let loop = connection.loop.context as? ResponderLoop else {
            preconditionFailure("The loop of a responder has its state before connections.")
        }
        self.connection = connection
        self.loop = loop
    }

    /// When the next answer is due; nil where none waits.
    var nextDue: UInt64? { held.first?.due }

    func connectionOpened(_ connection: TCPConnection) { loop.add(self) }

    func connectionEndedInput(_ connection: TCPConnection) { connection.closeAfterFlush() }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) { loop.remove(self) }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        let now = MonotonicInstant.now.nanoseconds
        let wasWaiting = !held.isEmpty
        var offset = 0
        do {
            while let body = try FrameScanner().nextBody(in: bytes, at: offset) {
                offset = body.upperBound
                if let frame = VoteFrame(scanning: bytes, in: body) {
                    try receive(frame, at: now)
                } else {
                    let frame = try decoder.decodeClientFrame(bytes.extracting(body))
                    try encoder.append(loop.answer(frame))
                }
            }
        } catch {
            connection.reset()
        }
        flush()
        if !wasWaiting, !held.isEmpty { loop.wait() }
        return ReadProgress(consumedByteCount: offset)
    }

    func release(at now: UInt64) {
        var answered: [UInt64] = []
        while let next = held.first, next.due <= now {
            held.removeFirst()
            do {
                try encoder.append(vote: next.answer, id: next.id, revision: 1)
            } catch {
                return connection.reset()
            }
            answered.append(next.received)
        }
        guard !answered.isEmpty else { return }
        let instant = MonotonicInstant.now.nanoseconds
        for received in answered { loop.record(received: received, answered: instant) }
        flush()
    }

    private func receive(_ frame: VoteFrame, at now: UInt64) throws(FrameError) {
        let answer = loop.cast(frame.vote)
        guard loop.isDelaying else {
            return try encoder.append(vote: answer, id: frame.id, revision: 1)
        }
        let due = max(loop.due(now), held.last?.due ?? 0)
        held.append(Held(id: frame.id, answer: answer, received: now, due: due))
    }

    private func flush() {
        encoder.withBytes { connection.write($0) }
        encoder.removeAll()
    }
}

@available(*, unavailable)
extension ResponderConnection: Sendable {}
