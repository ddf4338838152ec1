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

    /// How long the service asks to wait before the call is made again; nil if it does not.
    public var retryAfter: Duration? {
        guard case .refused(let status) = self, status.retryAfterMilliseconds > 0 else {
            return nil
        }
        return .milliseconds(Int64(status.retryAfterMilliseconds))
    }
}

extension FeedClientError: CustomStringConvertible {
    /// What happened and, if it is in doubt, that the call may have been executed.
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
    /// The sentence to add if the outcome is in doubt.
    fileprivate var doubt: String {
        switch self {
        case .none: ""
        case .unknown: " The call may have been executed."
        }
    }
}

/// What a call that failed did to the service's state.
public enum CallEffect: Sendable, Hashable {
    /// Certainly nothing: the call only reads, never left, or the service says so. It is safe to
    /// send again.
    case none
    /// Unknown: the call was sent and not answered, and may count again if it is sent again.
    case unknown
}

/// Why it is unknown whether a change was executed, though the service was asked again.
public enum InDoubtCause: Sendable, Hashable {
    /// The service's state is another one: fresh, or restored from a backup.
    case stateReplaced
    /// The service no longer remembers the client's channel.
    case channelForgotten
    /// Another client has taken over the client id and the channel.
    case channelTaken
    /// The service remembers the channel, but not sequences as old as the change's.
    case sequenceExpired
    /// The service remembers another change of the same sequence.
    case sequenceReused
}

extension InDoubtCause: CustomStringConvertible {
    /// The cause as a sentence.
    public var description: String {
        switch self {
        case .stateReplaced: "The service's state was replaced."
        case .channelForgotten: "The service has forgotten the client's channel."
        case .channelTaken: "Another client uses the same client id and channel."
        case .sequenceExpired: "The service has forgotten the number of the change."
        case .sequenceReused: "The service knows another change of the same number."
        }
    }
}

extension FeedClientError {
    init(_ error: FrameError, limitByteCount: Int) {
        switch error {
        case .empty: self = .requestTooLarge(byteCount: 0, limitByteCount: limitByteCount)
        case .tooLarge(let length, let limit):
            self = .requestTooLarge(byteCount: length, limitByteCount: limit)
        }
    }

    static func wrongAnswer(to request: Request) -> Self {
        .protocolViolation(
            reason: "The answer is of another kind than the call.",
            effect: request.mayHaveEffect ? .unknown : .none
        )
    }

    /// A watch has many answers, and a call has one.
    static var watchIsNoCall: Self {
        let message = "A watch is no call of one answer: begin it with watch(_:interval:)."
        return .refused(Status(code: .unimplemented, reason: .unknownMethod, message: message))
    }
}
