internal import FeedConcurrency
internal import FeedProto
internal import FeedRanking

/// The answers of one loop iteration to one connection, and the refreshes that are due after them.
///
/// The answers are encoded in the order of the requests, and sent at the end of the iteration.
struct Answers: ~Copyable {
    /// The shared parts of all calls of the loop.
    let environment: CallEnvironment
    /// The encoded answers.
    var encoder: FrameEncoder
    /// The part of the budget that the encoded answers take.
    var room: AnswerRoom
    /// The posts of an answer as the encoder takes them; the memory is reused.
    var fields: [PostFields] = []
    /// The calls that are answered, to time them.
    var calls = AnsweredCalls()
    /// The encoded first pages that were served last.
    var kept = KeptPages()
    /// What the caller has made of each post of a kept page; nothing for a caller without identity.
    var viewers: [Viewer] = []
    /// The tokens of a kept page; the memory is reused.
    var tokens: [UInt8] = []
    /// One post of each stripe that is refreshed after the answers are sent.
    private var refreshDue: [PostID] = []

    /// No answers.
    init(_ environment: CallEnvironment) {
        self.environment = environment
        let context = environment.context
        room = AnswerRoom(context.budget)
        encoder = FrameEncoder(maximumFrameByteCount: context.limits.maximumFrameByteCount)
    }

    /// The bytes of the encoded answers.
    var byteCount: Int { encoder.byteCount }

    /// Encodes the answer to a vote.
    mutating func append(_ vote: CastVoteResponse, id: UInt64, revision: UInt64) {
        do throws(FrameError) {
            try encoder.append(vote: vote, id: id, revision: revision)
        } catch {
            appendTooLarge(id: id, error)
        }
    }

    /// Encodes the answer to a batch of votes.
    mutating func append(_ results: borrowing VoteBatchResults, id: UInt64, revision: UInt64) {
        do throws(FrameError) {
            try encoder.append(results, id: id, revision: revision)
        } catch {
            appendTooLarge(id: id, error)
        }
    }

    /// Encodes an answer.
    ///
    /// An answer over the frame limit becomes an error, so that every request has one answer.
    mutating func append(_ frame: borrowing ServerFrame) {
        do throws(FrameError) {
            try encoder.append(frame)
        } catch {
            appendTooLarge(id: frame.id, error)
        }
    }

    /// Encodes the answer to a sign-in, whose token is left nowhere else afterwards.
    mutating func append(_ session: UserSession, id: UInt64) {
        let revision = environment.store.revision
        append(ServerFrame(id: id, revision: revision, response: .session(session)))
        session.overwriteToken()
        calls.hasSecret = true
    }

    /// Counts calls whose answers or refusals are encoded; the first of them has this id.
    mutating func countCalls(_ method: Method, _ count: Int = 1, firstID: UInt64) {
        environment.counters.countRequests(method, count)
        calls.add(method, count, firstID: firstID)
    }

    /// Adds the times of a call to its answer, which was encoded last and begins at an offset.
    ///
    /// When it is released is set once it is.
    mutating func addTimes(toFrameAt start: Int, receivedAt received: MonotonicInstant) {
        let times = CallTimes(
            receivedNanoseconds: received.nanoseconds,
            executedNanoseconds: environment.context.now.nanoseconds,
            releasedNanoseconds: 0
        )
        if encoder.append(times, toFrameAt: start) { calls.addTimed(endingAt: encoder.byteCount) }
    }

    /// Encodes the refusal of a call and counts it.
    mutating func refuse(_ id: UInt64, _ method: Method, _ status: Status) {
        environment.counters.countError(method, status.reason.rawValue)
        let start = byteCount
        refuse(id, status)
        if status.isOfStall { calls.sendAhead(start..<byteCount) }
    }

    /// Encodes a refusal without counting it for a method; the id 0 is the connection.
    mutating func refuse(_ id: UInt64, _ status: Status) {
        append(ServerFrame(id: id, revision: environment.shownRevision, status: status))
    }

    /// Encodes an error in place of an answer that does not fit into a frame.
    ///
    /// Only the answers to reads grow: a single post and the answer to any write fit into the
    /// smallest frame limit that the service starts with.
    mutating func appendTooLarge(id: UInt64, _ error: FrameError) {
        let status = Status(
            code: .internal,
            reason: .internal,
            message: "The answer does not fit: \(error)"
        )
        do throws(FrameError) {
            let revision = environment.store.revision
            try encoder.append(ServerFrame(id: id, revision: revision, status: status))
        } catch {
            preconditionFailure("A frame limit that no error fits into: \(error)")
        }
    }

    /// Notes that the stripe of a post is refreshed after the answers are sent.
    ///
    /// O(stripes that are due), which are few.
    mutating func refreshLater(stripeOf post: PostID) {
        guard !refreshDue.contains(where: { environment.store.shareStripe($0, post) }) else {
            return
        }
        refreshDue.append(post)
    }

    /// Passes the encoded answers to the outbox, which sends them in one write.
    mutating func send(to recipient: Recipient, through outbox: Outbox) {
        guard encoder.byteCount > 0 else { return }
        if !calls.timedEnds.isEmpty {
            let now = environment.context.now.nanoseconds
            for end in calls.timedEnds { encoder.setReleaseTime(now, endingAt: end) }
        }
        // Out of the way, so that the outbox reads them while the bytes are lent.
        var answered = AnsweredCalls()
        swap(&answered, &calls)
        encoder.lendBytes { outbox.send($0, of: answered, to: recipient) }
        if answered.hasSecret { encoder.overwrite() } else { encoder.removeAll() }
        answered.removeAll()
        swap(&answered, &calls)
        // The outbox counts the answers that it holds.
        room.end()
    }

    /// Refreshes one of the due stripes, for about a millisecond; the others wait for later loop
    /// iterations.
    mutating func refreshDueStripe() {
        guard !refreshDue.isEmpty else { return }
        environment.counters.countRefresh()
        environment.store.refresh(stripeOf: refreshDue.removeFirst())
    }
}
