/// Why a call failed.
public struct Status: Error, Hashable, Sendable {
    /// The class of the failure.
    public var code: StatusCode
    /// The cause, for programs.
    public var reason: Reason
    /// The cause in a sentence, for people.
    public var message: String
    /// Whether the call is guaranteed to have had no effect, so that it is safe to send again.
    public var isNotExecuted: Bool
    /// How long to wait before sending again; 0 means no advice.
    public var retryAfterMilliseconds: UInt32
    /// The fields at fault, if the request is at fault.
    public var violations: [FieldViolation]

    /// A failure, by default without an effect: most are found before execution.
    public init(
        code: StatusCode,
        reason: Reason,
        message: String,
        isNotExecuted: Bool = true,
        retryAfterMilliseconds: UInt32 = 0,
        violations: [FieldViolation] = []
    ) {
        self.code = code
        self.reason = reason
        self.message = message
        self.isNotExecuted = isNotExecuted
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.violations = violations
    }
}

extension Status: CustomStringConvertible {
    /// The code, the reason and the sentence.
    public var description: String { "\(code) / \(reason): \(message)" }
}
