internal import FeedNetwork
package import FeedProto

/// Why a connection ended, and what that means for the calls that it had.
package enum Ending: Equatable, Sendable {
    case closed
    /// It never opened.
    case cannotConnect(String)
    /// The name of the service has no address, with the reason.
    case unknownHost(String, String)
    /// It broke, or the service announced its end.
    case lost(String)
    /// The peer sent what the protocol does not allow.
    case violated(String)
    /// The service said why it would close it.
    case refused(Status)

    /// Whether calls may succeed on another connection, so that they are sent again.
    var isTemporary: Bool {
        switch self {
        case .cannotConnect, .unknownHost, .lost: true
        case .closed, .violated: false
        case .refused(let status): status.isTemporary
        }
    }

    /// How long the service asks to wait before the next connection.
    var advisedDelay: Duration {
        guard case .refused(let status) = self else { return .zero }
        return status.advisedDelay
    }

    /// The error of a call that this ended before its answer.
    ///
    /// A call with an unknown effect was sent. So it has lost a connection, also if the next one failed.
    package func error(effect: CallEffect) -> FeedClientError {
        switch self {
        case .closed:
            effect == .none
                ? .closed
                : .connectionLost(reason: "The client was closed.", effect: effect)
        case .cannotConnect(let reason) where effect == .none: .cannotConnect(reason: reason)
        case .unknownHost(let name, let reason) where effect == .none:
            .unknownHost(name: name, reason: reason)
        case .cannotConnect(let reason), .unknownHost(_, let reason), .lost(let reason):
            .connectionLost(reason: reason, effect: effect)
        case .violated(let reason): .protocolViolation(reason: reason, effect: effect)
        case .refused(let status): .refused(status.ofCall(effect: effect))
        }
    }
}

extension Ending {
    /// What the end of a connection means for its calls; it is unanswered if Hello was sent without TLS, and
    /// nothing has come.
    init(_ reason: CloseReason, isUnanswered: Bool) {
        self =
            switch reason {
            case .local: .closed
            case .peerClosed where isUnanswered:
                .lost(
                    "The service closed the connection before it answered. Where its address is for "
                        + "TLS, the client has to use TLS, too."
                )
            case .peerClosed: .lost("The service closed the connection.")
            case .reset: .lost("The service or the network broke the connection.")
            case .idleTimeout: .lost("The service was silent for too long.")
            case .partialReadTimeout: .lost("The rest of a frame did not come.")
            case .overBudget: .lost("Too much was held for connections.")
            case .writeStalled: .lost("The service took nothing of what was sent.")
            case .connectFailed(let error): .cannotConnect(error.description)
            case .failed(let error): .lost(error.description)
            }
    }
}
