internal import FeedConcurrency
internal import FeedProto
internal import FeedRanking

/// How the handler finds requests in the bytes of a connection.
///
/// `serveIteration` in `ServerConnection.swift` calls ``serve(_:of:unsentByteCount:waited:at:)`` and
/// sends the answers: it knows the transport, and the handler does not.
extension RequestHandler {
    /// The progress in the bytes of a connection.
    struct Progress {
        /// The served bytes.
        var byteCount: Int
        /// Whether a whole request is left for a later loop iteration: one that is to be passed again,
        /// or one behind the last that this iteration allows.
        var wantsIteration: Bool
        /// Whether nothing could be served, because too many answers are unsent.
        var lacksRoom = false
        /// Whether the served bytes may have a secret.
        var hasSecret = false
        /// Whether a request was told to wait for the longest time.
        var hasLongestWait = false
        /// Whether a backup or a sign-in is to be started.
        var hasDeferredCalls = false
    }

    /// Notes the vote at the front of bytes that are served soon; `ownVoter` is their connection's voter,
    /// and is asked only where the vote names no user.
    mutating func announce(_ bytes: RawSpan, ownVoter: @autoclosure () -> VoterID?) {
        guard let vote = VoteRun.firstVote(in: bytes, scanner) else { return }
        announcedVotes.append(vote, from: vote.actingUserID == 0 ? ownVoter() : nil)
    }

    /// Executes the requests in `bytes`, at most as many as one loop iteration allows.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes that are not served; they begin with the header of a frame.
    ///   - session: The connection's state; it closes after a bad frame.
    ///   - unsentByteCount: The answers that the connection has not taken yet.
    ///   - waited: How long the first request has waited for its loop iteration; nil is not at all.
    ///   - now: The time of the loop.
    /// - Returns: The progress in the bytes.
    mutating func serve(
        _ bytes: RawSpan,
        of session: inout Session,
        unsentByteCount: Int,
        waited: Duration?,
        at now: MonotonicInstant
    ) -> Progress {
        let context = environment.context
        hasReadSecret = false
        hasLongestWait = false
        environment.renewServiceKey(of: &session.caller)
        var limits = IterationLimits(
            frameCount: context.limits.requestsPerIteration,
            answerByteCount: context.unsentByteLimit - unsentByteCount,
            waited: waited,
            now: now
        )
        let lacksRoom = limits.answerByteCount <= 0
        // Without room nothing is executed, so a request that is under way keeps its progress.
        if !lacksRoom { resumeWork(of: &session) }
        environment.checkLogin(of: &session.caller, at: now)
        var offset = 0
        do throws(FrameError) {
            while limits.frameCount > 0, answers.byteCount < limits.answerByteCount {
                let start = offset
                serveVotes(bytes, at: &offset, of: &session, &limits)
                if offset == start {
                    guard let body = try scanner.nextBody(in: bytes, at: offset) else {
                        return Progress(byteCount: offset, wantsIteration: false)
                    }
                    switch executeBody(bytes.extracting(body), of: &session, limits) {
                    case .answered:
                        offset = body.upperBound
                        // An import that is refused half way has ended, too.
                        administration.textWalk.endImport()
                    case .again:
                        renewAllowances()
                        suspendWork(of: &session)
                        return Progress(byteCount: offset, wantsIteration: true)
                    case .wait:
                        suspendWork(of: &session)
                        return Progress(byteCount: offset, wantsIteration: true)
                    }
                    limits.frameCount -= 1
                }
                if session.life.isClosing {
                    return Progress(byteCount: bytes.byteCount, wantsIteration: false)
                }
                if offset == bytes.byteCount {
                    return Progress(byteCount: offset, wantsIteration: false)
                }
            }
            let hasMore = try scanner.nextBody(in: bytes, at: offset) != nil
            return Progress(byteCount: offset, wantsIteration: hasMore, lacksRoom: lacksRoom)
        } catch {
            refuseFrame("\(error)", of: &session)
            return Progress(byteCount: bytes.byteCount, wantsIteration: false)
        }
    }

    /// Gives the calls the progress of the connection's suspended request, or that of a new one.
    private mutating func resumeWork(of session: inout Session) {
        let work = session.suspendedWork
        session.suspendedWork = SuspendedWork()
        posts.refreshAllowance = work.refreshAllowance
        administration.textWalk =
            work.textWalk ?? TextWalk(byteLimit: environment.context.limits.walkedTextByteCount)
    }

    /// Gives a request that has used up its allowances new ones for the next loop iteration.
    private mutating func renewAllowances() {
        posts.refreshAllowance.renew()
        administration.textWalk.renew(byteLimit: environment.context.limits.walkedTextByteCount)
    }

    /// Keeps the progress of a request for the connection's next loop iteration.
    private mutating func suspendWork(of session: inout Session) {
        session.suspendedWork = SuspendedWork(
            refreshAllowance: posts.refreshAllowance,
            textWalk: administration.textWalk
        )
    }

    /// Executes the votes at the front of the received bytes, up to the first other frame.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes.
    ///   - offset: Where the first frame begins that is not executed; moved behind the votes.
    ///   - session: The connection's state.
    ///   - limits: The limits of the loop iteration; its frames are counted down by the votes.
    private mutating func serveVotes(
        _ bytes: RawSpan,
        at offset: inout Int,
        of session: inout Session,
        _ limits: inout IterationLimits
    ) {
        let count = votes.findRun(
            in: bytes,
            at: offset,
            limit: limits.frameCount,
            from: session.caller,
            scanner
        )
        let allowance = session.caller.allowance
        let admitted = allowance?.votes.take(upTo: count, at: limits.now) ?? count
        votes.admittedCount = admitted
        let takesFastPath =
            count > 0 && environment.takesChanges && session.caller.takesFastPath
        var number = 0
        while number < count, answers.byteCount < limits.answerByteCount, !session.life.isClosing {
            if takesFastPath, number < admitted {
                votes.castRun(from: &number, of: &session, &answers, limits)
            }
            guard number < count, answers.byteCount < limits.answerByteCount else { break }
            if number >= admitted, let allowance {
                excess = .votes(retryAfter: allowance.votes.retryTime(at: limits.now))
            }
            executeVote(votes.run.entries[number].frame, of: &session, waited: limits.waited)
            excess = nil
            number += 1
        }
        // The others are counted in the loop iteration that executes them.
        if number < admitted { allowance?.votes.giveBack(admitted - number) }
        guard number > 0 else { return }
        offset = votes.run.entries[number - 1].endOffset
        limits.frameCount -= number
    }

    /// Executes a vote in the path of all calls.
    private mutating func executeVote(
        _ frame: VoteFrame,
        of session: inout Session,
        waited: Duration?
    ) {
        guard isNext(frame.id, of: &session) else { return }
        _ = handle(
            ClientFrame(frame),
            hashes: RequestHashes(content: frame.requestHash),
            from: &session.caller,
            waited: waited
        )
        session.life.answered(frame.id)
    }

    /// Executes the request in a frame's body.
    private mutating func executeBody(
        _ body: RawSpan,
        of session: inout Session,
        _ limits: IterationLimits
    ) -> Execution {
        if votes.castBatch(body, of: &session, &answers, limits) { return .answered }
        do throws(MessageError) {
            let (frame, contentHash) = try decoder.decodeCall(body)
            defer { forgetSecrets(of: frame) }
            guard isNext(frame.id, of: &session) else { return .answered }
            excess = charge(frame, of: &session, at: limits.now)
            defer { excess = nil }
            let outcome = handle(
                frame,
                hashes: RequestHashes(
                    content: contentHash,
                    version01: frame.sequence == 0 ? 0 : frame.requestHash(of: body)
                ),
                from: &session.caller,
                waited: limits.waited
            )
            if case .answered = outcome { session.life.answered(frame.id) }
            return outcome
        } catch {
            refuse(error, of: &session)
            return .answered
        }
    }

    /// Overwrites the secrets of a request that was executed or refused.
    private mutating func forgetSecrets(of frame: borrowing ClientFrame) {
        guard frame.hasSecret else { return }
        frame.overwriteSecrets()
        hasReadSecret = true
    }

    /// Whether a request of this id may be executed now; refuses the frame if it may not.
    private mutating func isNext(
        _ id: UInt64,
        of session: inout Session
    ) -> Bool {
        switch session.life.action(for: id) {
        case .execute: return true
        case .refuse(let lastID):
            refuseFrame(
                "Frame has the id \(id); ids rise, and the last one was \(lastID).",
                of: &session
            )
            return false
        case .ignore: return false
        }
    }

    private mutating func refuse(
        _ error: MessageError,
        of session: inout Session
    ) {
        // It may be a sign-in.
        hasReadSecret = true
        switch error {
        case .badText(let id, let field):
            guard isNext(id, of: &session) else { return }
            answers.refuse(id, .badText(field: field))
            session.life.answered(id)
        case .malformed, .tooManyFields:
            refuseFrame("\(error)", of: &session)
        case .outOfMemory:
            answers.refuse(0, .outOfMemory)
            _ = session.life.close()
        }
    }

    /// Answers a bad frame and closes the connection: the bytes behind it are not understood.
    private mutating func refuseFrame(
        _ message: String,
        of session: inout Session
    ) {
        hasReadSecret = true
        environment.counters.count(.badFrames)
        environment.log.badFrame(message, from: session.caller.host)
        answers.refuse(0, .badFrame(message))
        _ = session.life.close()
    }
}
