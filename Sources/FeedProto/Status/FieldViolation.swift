/// One field of a request that is at fault.
public struct FieldViolation: Hashable, Sendable {
    /// The path of the field, as `post.title`.
    public var field: String
    /// The fault of the field.
    public var reason: Reason
    /// The limit that was passed, in the field's unit; 0 where there is none.
    public var limit: UInt64
    /// The value in the request, in the same unit.
    public var actual: UInt64

    /// A violation, by default without a numeric limit.
    public init(field: String, reason: Reason, limit: UInt64 = 0, actual: UInt64 = 0) {
        self.field = field
        self.reason = reason
        self.limit = limit
        self.actual = actual
    }
}
