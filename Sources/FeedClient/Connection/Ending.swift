package import FeedProto

/// Why a connection takes no more calls, and what that means for the calls it has.
package enum Ending: Equatable {
    /// The program closed it.
    case closed
    /// It never opened.
    case cannotConnect(String)
    /// It broke, or the service said farewell.
    case lost(String)
    /// The peer sent what the protocol does not allow.
    case violated(String)
    /// The service said why it would close it.
    case refused(Status)

    /// The error of a call that this ended before its answer.
    package func error(effect: CallEffect) -> FeedClientError {
        switch self {
        case .closed:
            effect == .none
                ? .closed
                : .connectionLost(
                    reason: "The client was closed.",
                    effect: effect
                )
        case .cannotConnect(let reason): .cannotConnect(reason: reason)
        case .lost(let reason): .connectionLost(reason: reason, effect: effect)
        case .violated(let reason): .protocolViolation(reason: reason, effect: effect)
        case .refused(let status): .refused(status.ofCall(effect: effect))
        }
    }
}

extension Status {
    /// The status of a connection as the status of one of its calls: what it says of execution
    /// concerns the cause of the end, not the call.
    fileprivate func ofCall(effect: CallEffect) -> Status {
        var status = self
        status.isNotExecuted = effect == .none
        return status
    }
}
