internal import FeedCalls
internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking
internal import FeedState

/// How the handler finds requests in the bytes of a connection.
///
/// `serveIteration` in `ServerConnection.swift` calls ``serve(_:of:unsentByteCount:waited:at:)`` and
/// sends the answers: it knows the transport, and the handler does not.
extension RequestHandler {
    struct Progress {
        var byteCount: Int
        /// Whether a whole request is left for a later loop iteration: one that is to be passed again,
        /// or one behind the last that this iteration allows.
        var wantsIteration: Bool
        /// Whether nothing could be served, because too many answers are unsent.
        var lacksRoom = false
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
    /// They begin with the header of a frame. After a bad frame the session closes.
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
                    case .wait, .behind:
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
    /// The offset is moved behind the votes, which count down the frames of the limits.
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
                let time = allowance.votes.retryTime(at: limits.now)
                excess = RequestExcess(isOfVotes: true, retryTime: time)
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
            let hashes = RequestHashes(
                content: contentHash,
                version01: frame.sequence == 0 ? 0 : frame.requestHash(of: body)
            )
            mayBePostponed = frame.minimumRevision != 0 && readRoom.admits(body.byteCount)
            var outcome = handle(
                frame,
                hashes: hashes,
                from: &session.caller,
                waited: limits.waited
            )
            if case .behind = outcome {
                postpone(frame, body)
                outcome = .answered
            }
            mayBePostponed = false
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

/// The reads that wait for a revision.
extension RequestHandler {
    private mutating func postpone(_ frame: borrowing ClientFrame, _ body: RawSpan) {
        readRoom.take(body.byteCount)
        let timeout = environment.context.timeout(milliseconds: frame.timeoutMilliseconds)
        laterCalls.append(
            .read(PostponedRead(body, revision: frame.minimumRevision, timeout: timeout))
        )
    }

    /// Executes a read again that has waited for so long; false where it is to be passed once more.
    ///
    /// The last time it is refused if its revision is not reached.
    mutating func executeAgain(
        _ read: inout PostponedRead,
        of session: inout Session,
        waited: Duration,
        isLast: Bool
    ) -> Bool {
        posts.refreshAllowance = read.work.refreshAllowance
        mayBePostponed = !isLast
        defer { mayBePostponed = false }
        let outcome = read.withBody { body in
            do throws(MessageError) {
                let (frame, contentHash) = try decoder.decodeCall(body)
                return handle(
                    frame,
                    hashes: RequestHashes(content: contentHash),
                    from: &session.caller,
                    waited: waited
                )
            } catch {
                // It was decoded before, so there is no memory for it now.
                refuse(error, of: &session)
                return .answered
            }
        }
        switch outcome {
        case .answered: return true
        case .again: posts.refreshAllowance.renew()
        case .wait, .behind: break
        }
        read.work.refreshAllowance = posts.refreshAllowance
        return false
    }
}

/// The frames that the service sends beside the answers of an iteration.
extension RequestHandler {
    /// The refusal of a whole connection, as bytes.
    func refusal(_ status: Status) -> [UInt8] {
        do throws(FrameError) {
            return try ServerFrame(id: 0, revision: 0, status: status).encoded()
        } catch {
            preconditionFailure("A refusal fits into any frame: \(error)")
        }
    }

    /// Encodes GoAway: the connection is about to close, and this request was the last executed.
    ///
    /// With the address of the cluster's leader, if it is another service and known.
    mutating func sayGoAway(lastID: UInt64, _ reason: Reason, _ leader: String?) {
        let goAway = GoAway(
            lastID: lastID,
            drainMilliseconds: UInt32(
                environment.context.limits.drainTimeout.millisecondsRoundedDown
            ),
            reason: reason,
            leader: leader ?? ""
        )
        answers.append(
            ServerFrame(id: 0, revision: environment.store.revision, response: .goAway(goAway))
        )
    }

    /// Encodes the answer to a request for a backup that arrived earlier.
    mutating func answerBackup(
        _ id: UInt64,
        _ result: Result<BackupSummary, BackupError>,
        arrival: MonotonicInstant
    ) {
        answers.calls.begin(at: arrival)
        answers.calls.add(.backup, 1, firstID: id)
        let revision = environment.store.revision
        switch result {
        case .success(let backup):
            let response = BackupResponse(name: backup.name, revision: backup.revision)
            answers.append(ServerFrame(id: id, revision: revision, response: .backup(response)))
        case .failure(let error):
            let status = Status(error)
            environment.counters.countError(.backup, status.reason.rawValue)
            answers.append(ServerFrame(id: id, revision: revision, status: status))
        }
    }
}

/// The answers of the replica to calls about the cluster.
extension RequestHandler {
    /// Encodes the answer to a call that arrived earlier.
    ///
    /// It shows nothing of the state: it has no revision, and passes the answers that are held. The cluster
    /// may have no majority, and a leader ends that gives the leadership away.
    mutating func answer(
        _ call: ClusterCall,
        _ result: Result<ClusterAnswer, ClusterRefusal>,
        arrival: MonotonicInstant
    ) {
        answers.calls.begin(at: arrival)
        answers.calls.add(call.method, 1, firstID: call.id)
        let start = answers.byteCount
        do throws(Status) {
            let response = try cluster.response(to: call, result)
            answers.append(ServerFrame(id: call.id, revision: 0, response: response))
        } catch {
            environment.counters.countError(call.method, error.reason.rawValue)
            answers.append(ServerFrame(id: call.id, revision: 0, status: error))
        }
        answers.calls.sendAhead(start..<answers.byteCount)
    }
}

/// What is answered while a commit stands still.
///
/// Nothing may leave that shows what is not durable. So calls are refused, but for those whose answers
/// show nothing of the state, and the answers that are held already are divided.
extension RequestHandler {
    /// Divides the held bytes of a write.
    ///
    /// The answer to a change that was executed stays held. A call without an effect is refused, and
    /// Hello and Ping are answered.
    mutating func divide(_ bytes: RawSpan, of runs: ArraySlice<AnsweredCalls.Run>) -> HeldDivision {
        var division = HeldDivision()
        // A token is not to be copied.
        guard !runs.isEmpty, !runs.contains(where: { $0.method.givesSecret }) else {
            return division
        }
        var run = runs.startIndex
        var offset = 0
        while let body = try? scanner.nextBody(in: bytes, at: offset) {
            var early: [UInt8]?
            if let answer = try? decoder.decodeServerFrame(bytes.extracting(body)) {
                while run + 1 < runs.endIndex, runs[run + 1].firstID <= answer.id { run += 1 }
                early = self.early(answer, to: runs[run].method)
            }
            if let early {
                division.ahead += early
            } else {
                division.kept.append(offset..<body.upperBound)
            }
            offset = body.upperBound
        }
        return division
    }

    /// What is sent ahead in place of a held answer; nil where that stays held.
    private func early(_ answer: ServerFrame, to method: Method) -> [UInt8]? {
        guard answer.id > 0 else { return nil }
        switch answer.response {
        // What Hello says of a channel holds until the connection is lost, durable or not.
        case .hello, .ping:
            return try? ServerFrame(id: answer.id, revision: 0, response: answer.response)
                .encoded()
        default: break
        }
        guard answer.status?.isNotExecuted ?? method.onlyReads else { return nil }
        let status = environment.context.stallRefusal.status
        environment.counters.countError(method, status.reason.rawValue)
        return try? ServerFrame(id: answer.id, revision: 0, status: status).encoded()
    }
}

/// The watches of connections, whose events the handler encodes among its answers.
extension RequestHandler {
    /// Does what the WatchPosts and Cancel of this loop iteration have asked for.
    mutating func performWatchActions(on set: inout WatchSet, for caller: Caller) {
        let actions = watches.actions
        watches.actions = []
        for action in actions {
            switch action {
            case .begin(let watch):
                guard let status = begin(watch, in: &set) else { continue }
                answers.refuse(watch.id, .watchPosts, status, from: caller)
            case .cancel(let id):
                guard let place = set.watches.firstIndex(where: { $0.id == id }) else { continue }
                endWatch(at: place, of: &set, .watchCancelled)
            }
        }
    }

    /// Forgets what they have asked for: the connection closes.
    mutating func dropWatchActions() {
        for case .begin(let watch) in watches.actions { watches.drop(watch) }
        watches.actions = []
    }

    /// Begins a watch; returns why it is refused, if it is.
    private mutating func begin(_ watch: Watch, in set: inout WatchSet) -> Status? {
        let limits = environment.context.limits
        guard set.watches.count < limits.calls.maximumWatchesPerConnection else {
            watches.drop(watch)
            return .tooManyWatches(ofConnection: limits.calls.maximumWatchesPerConnection)
        }
        do throws(WatchAdmission.Refusal) {
            try watches.begin(watch)
            set.watches.append(watch)
            return nil
        } catch {
            return .tooManyWatches(error, ofService: limits.maximumWatchCount)
        }
    }

    /// Ends all watches of a connection; the client is told why, where there is a status.
    mutating func endWatches(of set: inout WatchSet, _ status: Status?) {
        for watch in set.watches {
            if let status { answers.refuse(watch.id, status) }
            watches.end(watch)
        }
        set.watches = []
    }

    private mutating func endWatch(at place: Int, of set: inout WatchSet, _ status: Status) {
        let watch = set.watches.remove(at: place)
        answers.refuse(watch.id, status)
        watches.end(watch)
    }

    /// Encodes the events of a connection's watches that are due, in the room of the connection's host.
    ///
    /// Those behind the limits wait. Returns whether one is to be asked for in the next iteration.
    mutating func appendEvents(
        of set: inout WatchSet,
        for caller: borrowing Caller,
        byteLimit: Int,
        at now: MonotonicInstant
    ) -> Bool {
        var wantsIteration = false
        var place = 0
        while place < set.watches.count {
            guard set.watches[place].due <= now else {
                place += 1
                continue
            }
            guard answers.byteCount < byteLimit, !watchEvents.hasWorkedEnough else {
                wantsIteration = true
                break
            }
            switch appendEvent(of: &set.watches[place], for: caller, at: now) {
            case .done: set.watches[place].due = now.advanced(by: set.watches[place].pause)
            case .noRoom: set.watches[place].due = now.advanced(by: WatchSet.retryInterval)
            case .again: wantsIteration = true
            case .failed(let status):
                endWatch(at: place, of: &set, status)
                continue
            }
            place += 1
        }
        answers.room.shrink(to: answers.byteCount)
        return wantsIteration
    }

    private mutating func appendEvent(
        of watch: inout Watch,
        for caller: borrowing Caller,
        at now: MonotonicInstant
    ) -> WatchEvents.EventProgress {
        do throws(Status) {
            // A reader cannot tell a list that stands still from one without changes.
            try environment.checkLeadership(for: .watchPosts, of: caller)
            if case .service(let user) = watch.owner {
                try environment.checkActing(for: UserID(rawValue: user), caller)
            }
        } catch {
            return .failed(error)
        }
        return switch watch.owner {
        case .user(let id) where caller.userID != id: .failed(.watchOfFormerUser)
        case .everyone, .user, .service:
            watchEvents.append(&watch, in: WatchTick.number(of: now), to: &answers)
        }
    }
}
