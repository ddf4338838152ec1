import FeedConcurrency
import FeedProto
import FeedTransport

/// One connection of the load: keeps its pipeline as full as allowed and matches answers in order.
final class ClientConnection: LoadConnection {
    /// The stage of the connection's life.
    enum Stage {
        /// Not connected, for good.
        case closed
        /// Not connected, until a pause has passed.
        case pausing
        /// Connecting, or waiting for the answer to Hello.
        case greeting
        /// Takes requests.
        case open
        /// Connected; takes no requests until those sent again are answered.
        case recovering
        /// Connected; takes no requests because the service is about to close it.
        case leaving
        /// Connected; its life is over, so it takes no requests until those in flight are answered.
        case ending
        /// Closing, to be opened again.
        case reopening
    }

    let worker: Worker
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
    /// Whether the service refused Hello.
    var isRefused = false
    /// When to close a connection that the service was about to close.
    var leaveNanoseconds: UInt64 = 0
    var connection: TCPConnection?
    var nextID: UInt64 = 1
    var unwrittenID: UInt64 = 1
    var unexpiredID: UInt64 = 1
    var lastReadNanoseconds: UInt64 = 0
    /// When it is closed and opened again.
    var life: RemainingLife

    /// The users for whom it votes; none where it votes itself.
    private let voters: VoterShare
    private var stream: RequestStream

    /// Connection number `index` of `worker`, which is not open yet.
    init(_ worker: Worker, index: Int) {
        self.worker = worker
        self.index = index
        let setup = worker.setup
        window = PipelineWindow(
            depth: setup.configuration.pipelineDepth,
            mode: setup.configuration.pipelineMode
        )
        life = RemainingLife(
            setup.configuration.connectionLife,
            ages: RandomStream(
                seed: setup.configuration.seed,
                thread: setup.thread,
                client: index,
                purpose: .lives
            )
        )
        voters = VoterShare(
            voterCount: setup.configuration.voterCount,
            client: setup.firstClient + index,
            clientCount: setup.configuration.clientCount
        )
        stream = RequestStream(
            mix: setup.configuration.mix,
            keys: setup.workload.keys,
            seed: setup.configuration.seed,
            thread: setup.thread,
            client: index,
            voterCount: voters.count
        )
    }

    /// Its number over all threads.
    var number: Int { worker.setup.firstClient + index }
    /// Whether requests may leave on it.
    var isOpen: Bool { stage == .open }
    /// Whether it can take a request.
    var hasRoom: Bool { stage == .open && room > 0 }
    /// How many requests may leave on it now.
    @inline(__always)
    private var room: Int { life.limited(window.room) }
    /// Whether it took requests that are not written yet.
    var hasUnwritten: Bool { unwrittenID < nextID }
    /// Whether some request has no answer yet.
    var isWaiting: Bool { headID < nextID }

    /// Closed loop: sends as many requests as there is room for.
    @inline(__always)
    func fill() {
        let room = room
        guard room > 0, stage == .open else { return }
        let now = MonotonicInstant.now.nanoseconds
        guard !worker.isThinking else { return worker.think(index, room: room, at: now) }
        let count = worker.admit(room, at: now)
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

    /// Takes the next request of this connection's stream; the next flush sends it.
    func take(intended: UInt64) { take(1, of: &stream, intended: intended) }

    /// Takes the next requests of this connection's stream, in one access to it.
    @inline(__always)
    private func take(_ count: Int, of stream: inout RequestStream, intended: UInt64) {
        if worker.isBatching {
            takeBatches(count, of: &stream, intended: intended)
        } else {
            for _ in 0..<count {
                let request = worker.votesAsScheduled ? worker.nextScheduled() : stream.next()
                if request.operation == .vote { worker.prefetchPostID(request.argument) }
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
                ? recovery.takeSequence() : 0,
            argument: argument,
            operation: request.operation,
            voter: request.voter
        )
        nextID &+= 1
    }

    /// Writes the requests taken, in one write; `now` was read just before, once for all of them.
    @inline(__always)
    func flush(at now: UInt64) {
        encodeRequests(unwrittenID..<nextID, at: now)
        writeRequests()
    }

    /// Writes the requests that are encoded.
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
            worker.prefetchPostID(vote.argument)
            worker.inFlight[index, nextID] = InFlightRequest(
                intended: now,
                sent: now,
                argument: vote.argument,
                operation: .vote,
                voter: vote.voter
            )
            nextID &+= 1
        }
        let tallied = worker.tallied
        worker.output.appendVotes(count) { item in
            let id = first &+ UInt64(item)
            let request = worker.inFlight[index, id]
            return (
                id, 0, actingUserID(request), worker.votedPostID(request.argument),
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
            operationCount &+= worker.weight(request)
        }
        worker.recorder.outcomes.sent += UInt64(operationCount)
    }

    /// Encodes a request into the bytes of the next write.
    @inline(__always)
    func encode(_ request: InFlightRequest, id: UInt64) {
        guard request.operation == .vote else { return encodeMessage(request, id: id) }
        guard !worker.isBatching else { return encodeBatch(request, id: id) }
        worker.output.appendVote(
            id: id,
            sequence: request.sequence,
            actingUserID: actingUserID(request),
            postID: worker.votedPostID(request.argument),
            direction: worker.tallied.ballot(request.argument)
        )
    }

    /// Writes the encoded bytes.
    @inline(__always)
    func write() {
        worker.recorder.recordWrite(byteCount: worker.output.byteCount)
        worker.output.withBytes { connection?.write($0) }
        worker.output.removeAll()
    }

    /// Sends a frame that is no request of the load: Hello or a ping.
    func sendUpkeep(_ request: FeedProto.Request) {
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

    /// Encodes a request with the general encoder.
    @inline(never)
    private func encodeMessage(_ request: InFlightRequest, id: UInt64, isTimed: Bool = false) {
        guard let operation = request.operation else { return }
        append(
            ClientFrame(
                id: id,
                request: RequestMessages(worker, maker: number)
                    .message(operation, request, pageToken: pageToken),
                sequence: request.sequence,
                actingUserID: operation == .vote ? actingUserID(request) : 0,
                isTimed: isTimed
            )
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

@available(*, unavailable)
extension ClientConnection: Sendable {}
