import FeedProto
import FeedTransport

/// A connection under load, as its thread sees it: the seam between the pace of a load and the
/// protocol that it speaks.
///
/// The thread says when requests may leave; the connection says whether it has room, and knows
/// frames, answers and retries. It asks the thread how many requests leave next, and says how each ends.
/// All of it runs on the thread's loop.
protocol LoadConnection: AnyObject {
    var isOpen: Bool { get }
    var hasRoom: Bool { get }
    var hasUnwritten: Bool { get }

    /// Opens the connection and sends Hello.
    func connect()
    /// Closed loop: sends as many requests as there is room for.
    func fill()
    /// Open loop: takes a request that is due at an instant; the next flush sends it.
    func take(intended: UInt64)
    /// Writes the requests taken, in one write; `now` was read just before, once for all of them.
    func flush(at now: UInt64)
    /// Finds requests whose time ran out, keeps an idle connection alive, and ends pauses.
    func sweep(_ now: UInt64)
    func close()
}

enum RequestEnd {
    /// Answered with an error: it had no effect.
    case failed
    /// Answered with an error, and an earlier send may have had an effect.
    case failedInDoubt
    case expired
    /// Not answered when its connection ended, or not with what its operation has.
    case lost
}

/// A thread as the source of its connections' load. It knows nothing of their protocol.
extension Worker {
    /// How many requests of connection number `index`, which has room for some, leave now; their users
    /// think first, if they do.
    @inline(__always)
    func next(_ index: Int, room: Int, at now: UInt64) -> Int {
        guard !isThinking else {
            think(index, room: room, at: now)
            return 0
        }
        return admit(room, at: now)
    }

    /// Lets connection number `index` go on after a read: in a closed loop it fills itself.
    @inline(__always)
    func goOn(_ index: Int, fill: () -> Void) {
        if isOpenLoop {
            enqueue(index)
            pump()
        } else {
            fill()
        }
        if !isSending { finishIfDone() }
    }

    /// Counts and times an answer to a request, of which so many operations succeeded; single votes of one
    /// read are counted together instead, as an ``AnswerRun``.
    func answered(
        _ request: InFlightRequest,
        _ operation: Operation,
        count: UInt64 = 1,
        at now: UInt64
    ) {
        outstandingCount -= 1
        recorder.outcomes.ok += count
        guard count > 0 else { return }
        if operation.isChange { noteChange(at: now) }
        recorder.recordAnswer(
            operation,
            count: count,
            intended: request.intended,
            sent: request.sent,
            answered: now,
            phases: phases
        )
    }

    /// Notes that a change was answered, in a run with several services.
    @inline(__always)
    func noteChange(at now: UInt64) {
        guard let failover else { return }
        failover.answered(
            at: now,
            from: phases.measureFromNanoseconds,
            until: phases.measureUntilNanoseconds
        )
    }

    func end(_ request: InFlightRequest, as end: RequestEnd, client: Int) {
        outstandingCount -= 1
        let operationCount = UInt64(ledger.weight(request))
        switch end {
        case .failed, .failedInDoubt: recorder.outcomes.error += operationCount
        case .expired:
            recorder.outcomes.timeout += operationCount
            recorder.totals.failures.count(.requestTimeout)
        case .lost: recorder.outcomes.lost += operationCount
        }
        if end == .failed { ledger.fail(request) } else { ledger.forget(request, client: client) }
        ledger.release(request)
    }

    func count(_ reason: CloseReason) {
        if let cause = Failures.Cause(reason) { recorder.totals.failures.count(cause) }
    }

    /// The connection of a client, which speaks what the server does.
    func makeClient(_ index: Int) -> any LoadConnection {
        guard let posts = setup.workload.sortedSet else {
            return ClientConnection(self, index: index)
        }
        return RESPConnection(self, index: index, posts: posts)
    }
}

/// How many requests a connection may take now.
///
/// It counts requests and answers, and sees no bytes.
package struct PipelineWindow: Sendable, Equatable {
    package let depth: Int
    package let mode: PipelineMode
    /// Requests without an answer.
    package private(set) var inFlightCount = 0

    package init(depth: Int, mode: PipelineMode) {
        precondition(depth > 0, "A pipeline holds a request.")
        self.depth = depth
        self.mode = mode
    }

    /// How many requests may leave now.
    ///
    /// A batch leaves as a whole, once the previous batch is answered.
    @inline(__always)
    package var room: Int {
        switch mode {
        case .window: depth - inFlightCount
        case .batch: inFlightCount == 0 ? depth : 0
        }
    }

    @inline(__always)
    package mutating func send(_ count: Int) {
        inFlightCount += count
        assert(inFlightCount <= depth, "No more requests leave than there is room for.")
    }

    @inline(__always)
    package mutating func answer(_ count: Int) {
        inFlightCount -= count
        assert(inFlightCount >= 0, "Only what was sent is answered.")
    }
}

/// An answer that the protocol does not allow; its connection is reset.
enum ProtocolViolation: Error, Equatable, CustomStringConvertible {
    case badFrame(FrameError)
    case badMessage(MessageError)
    case badReply(RESPError)
    case outOfOrder(received: UInt64, due: UInt64)
    case unasked(UInt64)
    /// The answer to one request looks like the answer to another.
    case wrongAnswer(id: UInt64, expected: String)
    /// The vote counted for another post.
    case wrongPost(id: UInt64, received: UInt64, expected: UInt64)
    /// A result of a batch is neither a vote nor a status, or both.
    case wrongResult(id: UInt64, number: Int)
    /// The number of results differs from the number of votes in the batch.
    case wrongResultCount(id: UInt64, received: Int, expected: Int)

    var description: String {
        switch self {
        case .badFrame(let error): error.description
        case .badMessage(let error): error.description
        case .badReply(let error): error.description
        case .outOfOrder(let received, let due):
            "Answer \(received) came where answer \(due) was due."
        case .unasked(let id): "Answer \(id) came to no request."
        case .wrongAnswer(let id, let expected): "Answer \(id) is not the answer to a \(expected)."
        case .wrongResultCount(let id, let received, let expected):
            "Answer \(id) has \(received) results, the batch had \(expected) votes."
        case .wrongResult(let id, let number):
            "Result \(number) of answer \(id) is not one of a vote and a status."
        case .wrongPost(let id, let received, let expected):
            "Answer \(id) is about post \(received), the vote was on post \(expected)."
        }
    }
}

extension Failures.Cause {
    /// The cause of a connection that never opened.
    init(connect error: TransportError) {
        switch error {
        case .tooManyOpenFiles: self = .tooManyOpenFiles
        case .addressNotAvailable: self = .addressNotAvailable
        case .connectionRefused: self = .refused
        case .connectionReset: self = .reset
        case .endOfFile: self = .endOfFile
        case .timedOut: self = .connectTimeout
        default: self = .other
        }
    }

    /// The cause of an open connection's end; nil where this side ended it and counted that itself.
    init?(_ reason: CloseReason) {
        switch reason {
        case .local: return nil
        case .peerClosed: self = .endOfFile
        case .reset: self = .reset
        case .connectFailed(let error), .failed(let error): self = Self(connect: error)
        case .idleTimeout, .partialReadTimeout, .writeStalled, .overBudget: self = .other
        }
    }
}
