public import FeedProto

/// Why a call has no answer.
public enum FeedClientError: Error, Sendable, Equatable {
    /// The text does not name a service, with the reason.
    case badAddress(reason: String)
    /// The connection did not open, with the reason.
    case cannotConnect(reason: String)
    /// The name of the service has no address, with the reason.
    case unknownHost(name: String, reason: String)
    /// The service refused the call: its code, reason, message, violations and advice.
    case refused(Status)
    /// The change was sent and its connection lost, and the service that was asked again does not
    /// know whether the change was executed.
    case inDoubt(InDoubtCause)
    /// The connection ended before the answer came.
    case connectionLost(reason: String, effect: CallEffect)
    /// The answer did not come within the call's time.
    case deadlinePassed(timeout: Duration, effect: CallEffect)
    /// The task that waited for the answer was cancelled.
    case cancelled(effect: CallEffect)
    /// The client was closed before the call.
    case closed
    /// The request does not fit into a frame; it was not sent.
    case requestTooLarge(byteCount: UInt64, limitByteCount: Int)
    /// The peer sent what the protocol does not allow.
    case protocolViolation(reason: String, effect: CallEffect)
}

extension FeedClientError {
    /// What the call did: whether it is safe to make it again.
    public var effect: CallEffect {
        switch self {
        case .badAddress, .cannotConnect, .unknownHost, .closed, .requestTooLarge: .none
        case .inDoubt: .unknown
        case .refused(let status): status.isNotExecuted ? .none : .unknown
        case .connectionLost(_, let effect), .deadlinePassed(_, let effect),
            .cancelled(let effect), .protocolViolation(_, let effect):
            effect
        }
    }

    /// How long the service asks to wait before the call is made again; nil where it does not.
    public var retryAfter: Duration? {
        guard case .refused(let status) = self, status.retryAfterMilliseconds > 0 else {
            return nil
        }
        return .milliseconds(Int64(status.retryAfterMilliseconds))
    }
}

extension FeedClientError: CustomStringConvertible {
    /// What happened and, where it is in doubt, that the call may have been executed.
    public var description: String {
        switch self {
        case .badAddress(let reason): reason
        case .cannotConnect(let reason): "No connection to the service: \(reason)"
        case .unknownHost(let name, let reason): "No address for \"\(name)\": \(reason)"
        case .refused(let status): status.description
        case .inDoubt(let cause): "\(cause)\(CallEffect.unknown.doubt)"
        case .connectionLost(let reason, let effect):
            "The connection was lost: \(reason)\(effect.doubt)"
        case .deadlinePassed(let timeout, let effect):
            "No answer came within \(timeout).\(effect.doubt)"
        case .cancelled(let effect): "The call was cancelled.\(effect.doubt)"
        case .closed: "The client is closed."
        case .requestTooLarge(let byteCount, let limit):
            "Request of \(byteCount) bytes exceeds the limit of \(limit) bytes; it was not sent."
        case .protocolViolation(let reason, let effect):
            "The peer broke the protocol: \(reason)\(effect.doubt)"
        }
    }
}

extension CallEffect {
    /// The sentence to add where the outcome is in doubt.
    fileprivate var doubt: String {
        switch self {
        case .none: ""
        case .unknown: " The call may have been executed."
        }
    }
}
