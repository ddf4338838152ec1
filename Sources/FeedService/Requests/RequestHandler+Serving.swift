internal import FeedProto
internal import FeedRanking

/// How the bytes of a connection become requests.
extension RequestHandler {
    /// How far the bytes of a connection were served.
    struct Progress {
        /// The bytes that are done with.
        var byteCount: Int
        /// Whether a whole request is left that needs another turn.
        var wantsTurn: Bool
        /// Whether nothing could be served, as too many answers are unsent.
        var lacksRoom = false
    }

    /// Executes the requests in `bytes`, at most as many as one turn allows.
    ///
    /// - Parameters:
    ///   - bytes: What was received and not yet served, starting with a frame's header.
    ///   - session: The connection's state; closing, where nothing more can be understood.
    ///   - unsentByteCount: The answers that the connection has not taken yet.
    ///   - waited: How long the first request has waited for its turn; nil is not at all.
    /// - Returns: How far it got.
    mutating func serve(
        _ bytes: RawSpan,
        of session: inout ServerConnection.Session,
        unsentByteCount: Int,
        waited: Duration?
    ) -> Progress {
        let room = context.answerByteLimit - unsentByteCount
        let walkedTextByteCount = context.limits.walkedTextByteCount
        // A turn without room executes nothing, so a request that is under way keeps its progress.
        if room > 0 {
            refreshBudget = session.refreshBudget
            session.refreshBudget = RefreshBudget()
            textWalk = session.textWalk ?? TextWalk(byteLimit: walkedTextByteCount)
            session.textWalk = nil
        }
        var offset = 0
        do throws(FrameError) {
            var limit = context.limits.requestsPerTurn
            while limit > 0, encoder.byteCount < room {
                let start = offset
                serveVotes(
                    bytes,
                    at: &offset,
                    limit: &limit,
                    of: &session,
                    room: room,
                    waited: waited
                )
                if offset == start {
                    guard let body = try scanner.nextBody(in: bytes, at: offset) else {
                        return Progress(byteCount: offset, wantsTurn: false)
                    }
                    switch execute(bytes.extracting(body), of: &session, waited: waited) {
                    case .answered:
                        offset = body.upperBound
                        // Also where it was refused half way: the next import begins at its front.
                        textWalk.endImport()
                    case .needsAnotherTurn:
                        session.refreshBudget = refreshBudget
                        session.refreshBudget.renew()
                        textWalk.renew(byteLimit: walkedTextByteCount)
                        session.textWalk = textWalk
                        return Progress(byteCount: offset, wantsTurn: true)
                    }
                    limit -= 1
                }
                if session.state.isClosing {
                    return Progress(byteCount: bytes.byteCount, wantsTurn: false)
                }
                if offset == bytes.byteCount { break }
            }
            // What is left was received whole, or not.
            let hasMore = try scanner.nextBody(in: bytes, at: offset) != nil
            return Progress(byteCount: offset, wantsTurn: hasMore, lacksRoom: room <= 0)
        } catch {
            refuseFrame("\(error)", of: &session)
            return Progress(byteCount: bytes.byteCount, wantsTurn: false)
        }
    }

    /// Executes the request in a frame's body.
    private mutating func execute(
        _ body: RawSpan,
        of session: inout ServerConnection.Session,
        waited: Duration?
    ) -> Outcome {
        if castBatch(body, of: &session, waited: waited) { return .answered }
        do throws(MessageError) {
            let (frame, contentHash) = try decoder.decodeCall(body)
            guard isNext(frame.id, of: &session) else { return .answered }
            let outcome = handle(
                frame,
                requestHash: contentHash,
                writtenHash: frame.sequence == 0 ? 0 : frame.requestHash(of: body),
                from: &session.caller,
                waited: waited
            )
            if case .answered = outcome { session.state.answered(frame.id) }
            return outcome
        } catch {
            refuse(error, of: &session)
            return .answered
        }
    }

    /// Whether a request of this id may be executed now; refuses the frame if it may not.
    mutating func isNext(
        _ id: UInt64,
        of session: inout ServerConnection.Session
    ) -> Bool {
        switch session.state.action(for: id) {
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
        of session: inout ServerConnection.Session
    ) {
        switch error {
        case .badText(let id, let field):
            guard isNext(id, of: &session) else { return }
            refuse(id: id, .badText(field: field))
            session.state.answered(id)
        case .malformed, .tooManyFields:
            refuseFrame("\(error)", of: &session)
        case .outOfMemory:
            refuse(id: 0, .outOfMemory)
            _ = session.state.close()
        }
    }

    /// Says what was wrong with a frame; nothing after it can be understood.
    private mutating func refuseFrame(
        _ message: String,
        of session: inout ServerConnection.Session
    ) {
        counters.countBadFrame()
        log.badFrame(message, from: session.caller.host)
        refuse(id: 0, .badFrame(message))
        _ = session.state.close()
    }
}
