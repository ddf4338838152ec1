import FeedConcurrency
import FeedTransport

/// One connection of the load to a server that speaks RESP2.
///
/// Replies have no ids: they come in the order of the commands, and each is matched with the oldest
/// command without one.
final class RESPConnection: LoadConnection {
    private enum Stage {
        case closed
        case connecting
        case open
    }

    private let worker: Worker
    /// Its number in its thread.
    private let index: Int
    private let ledger: VoteLedger
    private let posts: RESPSortedSet
    private var window: PipelineWindow
    private var stream: RequestStream
    private var stage = Stage.closed
    private var connection: TCPConnection?
    /// The oldest command without a reply.
    private var headID: UInt64 = 1
    private var nextID: UInt64 = 1
    /// The oldest command that is not written.
    private var unwrittenID: UInt64 = 1
    private var unexpiredID: UInt64 = 1
    private var nextPlace: UInt32 = 0

    init(_ worker: Worker, index: Int, posts: RESPSortedSet) {
        self.worker = worker
        ledger = worker.ledger
        self.index = index
        self.posts = posts
        window = worker.setup.window
        stream = worker.setup.stream(client: index)
    }

    var isOpen: Bool { stage == .open }
    var hasRoom: Bool { stage == .open && window.room > 0 }
    var hasUnwritten: Bool { unwrittenID < nextID }

    func connect() {
        stage = .connecting
        do throws(TransportError) {
            try worker.loop.connect(
                to: worker.setup.address,
                timeout: worker.setup.configuration.connectTimeout,
                handler: self
            )
        } catch {
            worker.recorder.totals.failures.count(Failures.Cause(connect: error))
            ended()
        }
    }

    @inline(__always)
    func fill() {
        let room = window.room
        guard room > 0, stage == .open else { return }
        let now = MonotonicInstant.now.nanoseconds
        let count = worker.next(index, room: room, at: now)
        guard count > 0 else { return }
        for _ in 0..<count { take(intended: 0) }
        flush(at: now)
        worker.requestsWritten()
    }

    @inline(__always)
    func take(intended: UInt64) {
        let request = stream.next()
        worker.inFlight[index, nextID] = InFlightRequest(
            intended: intended,
            sent: 0,
            argument: request.operation == .page ? nextPlace : request.argument,
            operation: request.operation
        )
        nextID &+= 1
        window.send(1)
        worker.outstandingCount += 1
    }

    @inline(__always)
    func flush(at now: UInt64) {
        worker.recorder.outcomes.sent += nextID &- unwrittenID
        while unwrittenID < nextID {
            encode(
                worker.inFlight.depart(
                    index,
                    unwrittenID,
                    at: now,
                    intended: worker.isOpenLoop ? nil : now
                )
            )
            unwrittenID &+= 1
        }
        worker.recorder.recordWrite(byteCount: worker.output.byteCount)
        worker.output.withBytes { connection?.write($0) }
        worker.output.removeAll()
    }

    func sweep(_ now: UInt64) {
        unexpiredID = max(unexpiredID, headID)
        while unexpiredID < unwrittenID {
            var request = worker.inFlight[index, unexpiredID]
            guard request.sent + worker.timeoutNanoseconds <= now else { break }
            request.marks.insert(.expired)
            worker.inFlight[index, unexpiredID] = request
            unexpiredID += 1
            worker.end(request, as: .expired, client: index)
        }
    }

    func close() {
        guard stage != .closed else { return }
        stage = .closed
        abandonAll()
        connection?.closeAfterFlush()
        connection = nil
    }

    @inline(__always)
    private func encode(_ request: InFlightRequest) {
        guard request.operation == .vote else { return encodeRead(request) }
        posts.voteHead.withRawSpan {
            worker.output.appendCommand($0, number: ledger.posts.id(request.argument))
        }
    }

    @inline(never)
    private func encodeRead(_ request: InFlightRequest) {
        let command: [UInt8]
        switch request.operation {
        case .get: command = posts.score(ledger.posts.id(request.argument))
        case .list, .page:
            let count = worker.setup.configuration.pageSize
            command = posts.page(from: Int(request.argument), count: count)
        case .vote, .create, nil:
            preconditionFailure("The flags refuse operations that a sorted set does not have.")
        }
        command.withRawSpan { worker.output.append($0) }
    }

    /// The connection ended, or never opened: requests in flight are lost.
    private func ended() {
        let wasOpen = stage == .open
        stage = .closed
        connection = nil
        abandonAll()
        if wasOpen { worker.connectionLost() } else { worker.connectionDecided(isOpen: false) }
    }

    private func abandonAll() {
        for id in headID..<nextID {
            let request = worker.inFlight[index, id]
            guard !request.marks.contains(.expired) else { continue }
            worker.end(request, as: .lost, client: index)
        }
        headID = nextID
    }
}

extension RESPConnection: ConnectionHandler {
    func connectionOpened(_ connection: TCPConnection) {
        guard stage == .connecting else { return connection.reset() }
        self.connection = connection
        stage = .open
        worker.connectionDecided(isOpen: true)
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        let now = MonotonicInstant.now.nanoseconds
        var offset = 0
        do throws(ProtocolViolation) {
            offset = try receive(bytes, at: now)
        } catch {
            worker.recorder.totals.failures.countProtocolError(error.description)
            connection.reset()
            return ReadProgress(consumedByteCount: bytes.byteCount)
        }
        worker.recorder.recordRead(byteCount: offset)
        worker.goOn(index) { fill() }
        return ReadProgress(consumedByteCount: offset)
    }

    func connectionEndedInput(_ connection: TCPConnection) { connection.closeAfterFlush() }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        guard stage != .closed else { return }
        worker.count(reason)
        ended()
    }
}

extension RESPConnection {
    /// Handles every whole reply of `bytes` and returns where the rest begins.
    @inline(__always)
    private func receive(_ bytes: RawSpan, at now: UInt64) throws(ProtocolViolation) -> Int {
        var offset = 0
        let firstID = headID
        var run = AnswerRun(answered: now)
        // Replies before a violation count all the same.
        defer {
            run.end(worker.recorder, worker.phases)
            worker.recorder.outcomes.ok += run.answerCount
            worker.outstandingCount -= Int(run.answerCount)
            window.answer(Int(headID &- firstID))
        }
        while offset < bytes.byteCount {
            let isVote =
                headID < unwrittenID && worker.inFlight[index, headID].operation == .vote
            if isVote, let score = RESPReader.nextScore(in: bytes, at: &offset) {
                try receiveVote(score, &run)
            } else {
                guard try receiveAny(bytes, &offset, at: now) else { break }
            }
        }
        return offset
    }

    @inline(__always)
    private func receiveVote(_ score: Int64, _ run: inout AnswerRun) throws(ProtocolViolation) {
        let request = try dueRequest()
        guard !request.marks.contains(.expired) else {
            worker.recorder.totals.lateAnswerCount += 1
            return
        }
        run.add(intended: request.intended, sent: request.sent, to: worker.recorder, worker.phases)
        ledger.acknowledge(request.argument, score: score, client: index)
    }

    /// Handles a reply that is not a score for a vote; returns whether all of it had arrived.
    @inline(never)
    private func receiveAny(
        _ bytes: RawSpan,
        _ offset: inout Int,
        at now: UInt64
    ) throws(ProtocolViolation) -> Bool {
        let reply: RESPValue?
        do throws(RESPError) {
            reply = try RESPReader.next(in: bytes, at: &offset)
        } catch {
            throw .badReply(error)
        }
        guard let reply else { return false }
        let id = headID
        let request = try dueRequest()
        guard !request.marks.contains(.expired) else {
            worker.recorder.totals.lateAnswerCount += 1
            return true
        }
        if case .error(let text) = reply {
            worker.recorder.totals.failures.countServerError(text)
            worker.end(request, as: .failed, client: index)
            return true
        }
        guard let operation = request.operation, accept(reply, request) else {
            // The reply may have counted the vote all the same.
            worker.end(request, as: .lost, client: index)
            throw .wrongAnswer(id: id, expected: request.operation?.name ?? "command")
        }
        worker.answered(request, operation, at: now)
        return true
    }

    /// Checks a reply to a read; returns whether it is one.
    private func accept(_ reply: RESPValue, _ request: InFlightRequest) -> Bool {
        switch request.operation {
        case .get: return reply.score != nil
        case .list, .page:
            guard let page = RESPPage(reply) else { return false }
            page.check(into: &ledger.counts.findings)
            let isLast = page.entries.count < worker.setup.configuration.pageSize
            nextPlace =
                isLast ? 0 : request.argument.addingClamped(UInt32(clamping: page.entries.count))
            return true
        case .vote, .create, nil: return false
        }
    }

    @inline(__always)
    private func dueRequest() throws(ProtocolViolation) -> InFlightRequest {
        guard headID < unwrittenID else { throw .unasked(headID) }
        defer { headID &+= 1 }
        return worker.inFlight[index, headID]
    }
}

@available(*, unavailable)
extension RESPConnection: Sendable {}
