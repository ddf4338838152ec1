import FeedProto

extension FeedClientError {
    /// The error of a request that cannot be a frame's body.
    init(_ error: FrameError, limitByteCount: Int) {
        switch error {
        case .empty: self = .requestTooLarge(byteCount: 0, limitByteCount: limitByteCount)
        case .tooLarge(let length, let limit):
            self = .requestTooLarge(byteCount: length, limitByteCount: limit)
        }
    }

    /// The service answered with something that is no answer to the call.
    static func wrongAnswer(to request: Request) -> Self {
        .protocolViolation(
            reason: "The answer is of another kind than the call.",
            effect: request.mayHaveEffect ? .unknown : .none
        )
    }

    /// A watch has many answers, and a call has one.
    static var watchIsNoCall: Self {
        let message = "A watch is no call of one answer: begin it with watch(_:interval:)."
        return .refused(
            Status(code: .unimplemented, reason: .unknownMethod, message: message)
        )
    }
}
