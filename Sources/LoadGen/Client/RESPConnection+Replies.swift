import FeedTransport

extension RESPConnection {
    /// Handles every whole reply of `bytes` and returns where the rest begins.
    @inline(__always)
    func receive(_ bytes: RawSpan, at now: UInt64) throws(ProtocolViolation) -> Int {
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

    /// Counts an acknowledged vote, unless it came too late.
    @inline(__always)
    private func receiveVote(
        _ score: Int64,
        _ run: inout AnswerRun
    ) throws(ProtocolViolation) {
        let request = try dueRequest()
        guard !request.marks.contains(.expired) else {
            worker.recorder.lateAnswerCount += 1
            return
        }
        run.add(
            intended: request.intended,
            sent: request.sent,
            to: worker.recorder,
            worker.phases
        )
        worker.posts.acknowledge(request.argument, score: score)
        if !worker.scores.rises(client: index, post: request.argument, score: score) {
            noteFallingScore(request, score)
        }
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
            worker.recorder.lateAnswerCount += 1
            return true
        }
        worker.outstandingCount -= 1
        if case .error(let text) = reply {
            worker.recorder.outcomes.error += 1
            worker.recorder.failures.countServerError(text)
            worker.fail(request)
            return true
        }
        guard let operation = request.operation, accept(reply, request) else {
            // The reply may have counted the vote all the same.
            worker.recorder.outcomes.lost += 1
            worker.forget(request, client: number)
            throw .wrongAnswer(id: id, expected: request.operation?.name ?? "command")
        }
        worker.recorder.outcomes.ok += 1
        record(operation, request, at: now)
        return true
    }

    /// Checks a reply to a read; returns whether it is one.
    private func accept(_ reply: RESPValue, _ request: InFlightRequest) -> Bool {
        switch request.operation {
        case .get: return reply.score != nil
        case .list, .page:
            guard let page = RESPPage(reply) else { return false }
            page.check(into: &worker.counts.findings)
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

    private func record(_ operation: Operation, _ request: InFlightRequest, at now: UInt64) {
        worker.recorder.recordAnswer(
            operation,
            intended: request.intended,
            sent: request.sent,
            answered: now,
            phases: worker.phases
        )
    }

    @inline(never)
    private func noteFallingScore(_ request: InFlightRequest, _ score: Int64) {
        worker.counts.findings.note(
            .fallingScore,
            """
            Post \(worker.posts.id(request.argument)): a vote of client \(number) was answered with \
            score \(score), not above the score of its vote before.
            """
        )
    }
}
