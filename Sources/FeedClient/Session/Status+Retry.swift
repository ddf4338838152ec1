package import FeedProto

extension Status {
    /// Whether the same call may succeed a little later: the service did not execute it, for a
    /// cause that passes.
    ///
    /// A backup that is under way takes minutes, and a table that is full stays full for longer than a call.
    package var isTemporary: Bool {
        guard isNotExecuted else { return false }
        switch reason {
        case .overloaded, .readOnly, .rateLimited, .tooManyConnections, .tooManyChannels,
            .draining, .clockJumped:
            return code == .resourceExhausted || code == .unavailable
        default:
            return false
        }
    }

    /// How long the service asks to wait.
    package var advisedDelay: Duration { .milliseconds(Int64(retryAfterMilliseconds)) }

    /// The status of a connection, or of one try, as the status of a call: what it says of
    /// execution concerns the connection or the try, not the call.
    func ofCall(effect: CallEffect) -> Status {
        var status = self
        status.isNotExecuted = effect == .none
        return status
    }
}
