import FeedConcurrency
package import FeedProto

/// Watches: calls with many answers, which outlive their connection.
extension ClientSession {
    /// How many watches have not ended.
    package var watchCount: Int { watches.count }

    /// Begins a watch with a token of its own; it needs no call to open a connection.
    package mutating func watch(
        _ token: UInt64,
        _ request: WatchPostsRequest,
        actingUserID: UInt64
    ) {
        watches.begin(token, request, actingUserID: actingUserID)
        if !takesCalls { watches.end(token, .closed) }
    }

    /// Ends a watch that its reader gave up; nothing where it has ended.
    package mutating func cancelWatch(_ token: UInt64) { watches.cancel(token) }

    /// A watch whose request left does not fit into a frame, so it did not leave, and ends.
    package mutating func couldNotBegin(_ id: UInt64, _ error: FeedClientError) {
        watches.couldNotBegin(id, error)
    }

    /// The next frame of a watch, if there is one.
    mutating func nextWatchFrame() -> WatchTable.Step? {
        guard watches.hasFrames else { return nil }
        let id = withExchange { $0.takeIDWithoutAnswer() }
        return watches.nextFrame(id)
    }

    /// A frame came that answers no call: it is of a watch, or breaks the protocol.
    mutating func receivedWatchFrame(_ frame: ServerFrame, at now: MonotonicInstant) {
        switch watches.owner(of: frame.id) {
        case .nobody: drop(.violated("Answer \(frame.id) is to no call in flight."), at: now)
        case .formerWatch: if !frame.hasMore { watches.forgetFormer(frame.id) }
        case .watch(let token):
            if let status = frame.status { return watchEnded(token, status, at: now) }
            guard case .watchPosts(let event) = frame.response, frame.hasMore else {
                return drop(.violated("Answer \(frame.id) is no event of a watch."), at: now)
            }
            round = 0
            watches.apply(event, revision: frame.revision, to: token)
        }
    }

    /// The service has ended a watch, or has refused to begin it.
    private mutating func watchEnded(
        _ token: UInt64,
        _ status: Status,
        at now: MonotonicInstant
    ) {
        if status.reason == .draining {
            watches.beginAgain(token)
            // The service takes nothing more on this connection.
            return drain(after: .max)
        }
        if status.reason == .sessionExpired, isChangingSession { return watches.beginAgain(token) }
        guard status.isTemporaryForWatches else {
            round = 0
            watches.remove(token)
            watches.end(token, .refused(status))
            return forgetSession(endedBy: status)
        }
        let round = watches.refusalCount(of: token) + 1
        let jitter = backoff.delay(round: round, using: &randomness)
        let due = now.advanced(by: status.advisedDelay + jitter)
        watches.delay(token, until: due)
        note(due)
    }

    /// Whether a call is in flight that ends the session of the connection or begins another one.
    private var isChangingSession: Bool {
        calls.contains { _, call in
            switch call.request {
            case .signUp, .signIn, .signOut: call.isInFlight
            default: false
            }
        }
    }
}

extension Status {
    /// Whether a watch may begin a little later.
    ///
    /// A watch has no effect, so what the status says of one does not matter.
    fileprivate var isTemporaryForWatches: Bool {
        var status = self
        status.isNotExecuted = true
        // A connection that is full stays so, and a service that is full says when to come back.
        return status.isTemporary || reason == .tooManyWatches && retryAfterMilliseconds > 0
    }
}
