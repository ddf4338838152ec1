internal import FeedConcurrency
internal import FeedProto

/// A request over the limits of its caller's identity: which limit, and when to come back.
enum RequestExcess {
    /// It is a vote, or has some.
    case votes(retryAfter: Duration)
    /// It is another call.
    case calls(retryAfter: Duration)

    /// When to come back.
    var retryTime: Duration {
        switch self {
        case .votes(let time), .calls(let time): time
        }
    }
}

/// The limits of identities, which count requests before they are executed.
///
/// A request with a sequence may be the repeat of one that was executed. So it is refused only once its
/// channel has said that it was not: a repeat is answered as ever, and has taken its token all the same.
extension RequestHandler {
    /// Counts a decoded request for its caller's identity.
    ///
    /// - Returns: Why it is over the limits; nil where it is not, or is counted already.
    func charge(
        _ frame: borrowing ClientFrame,
        of session: inout Session,
        at now: MonotonicInstant
    ) -> RequestExcess? {
        guard let allowance = session.caller.allowance, session.chargedID != frame.id else {
            return nil
        }
        switch frame.request {
        case .castVote:
            guard allowance.votes.take(upTo: 1, at: now) == 1 else {
                return .votes(retryAfter: allowance.votes.retryTime(at: now))
            }
        case .batchCastVotes(let batch):
            guard allowance.votes.takeWhole(batch.votes.count, at: now) else {
                return .votes(retryAfter: allowance.votes.retryTime(at: now))
            }
        case .cancel:
            // It has no answer, and lessens the work.
            break
        default:
            guard allowance.calls.take(upTo: 1, at: now) == 1 else {
                return .calls(retryAfter: allowance.calls.retryTime(at: now))
            }
        }
        session.chargedID = frame.id
        return nil
    }

    /// Refuses the request that is handled if it is over a limit.
    func refuseExcess() throws(Status) {
        let limits = environment.context.limits.identities
        switch excess {
        case nil: return
        case .votes(let time):
            throw .rateLimited("votes", perSecond: limits.votesPerSecond, retryAfter: time)
        case .calls(let time):
            throw .rateLimited("calls", perSecond: limits.callsPerSecond, retryAfter: time)
        }
    }

    /// Notes how long a refused request has to wait.
    mutating func noteWait(_ time: Duration) {
        if time >= RateBucket.longestRetryTime { hasLongestWait = true }
    }
}

extension ClientFrame {
    /// Whether the request may be the repeat of one that was executed.
    borrowing func mayBeRepeat(_ method: Method) -> Bool {
        sequence != 0 && method.takesSequence
    }
}
