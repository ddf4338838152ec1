// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

/// Why a call failed.
public struct Status: Hashable, Sendable {
    /// The class of the failure.
    public var code: StatusCode
    /// The cause, in stable UPPER_SNAKE_CASE, for programs.
    public var reason: Reason
    /// The cause in a sentence, for people; may change at any time.
    public var message: String
    /// Whether this frame is guaranteed to have had no effect.
    ///
    /// An earlier frame of the same call may have had one where the reason says so.
    public var isNotExecuted: Bool
    /// How long to wait before sending again; 0 is no advice.
    public var retryAfterMilliseconds: UInt32
    /// The fields at fault, where the request is at fault.
    public var violations: [FieldViolation]
    /// Where the leader of the cluster is, as host:port, with NOT_LEADER; empty if it is not known.
    public var leader: String

    /// All fields; those with a default may be left out.
    public init(
        code: StatusCode,
        reason: Reason,
        message: String,
        isNotExecuted: Bool = true,
        retryAfterMilliseconds: UInt32 = 0,
        violations: [FieldViolation] = [],
        leader: String = ""
    ) {
        self.code = code
        self.reason = reason
        self.message = message
        self.isNotExecuted = isNotExecuted
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.violations = violations
        self.leader = leader
    }
}

/// One field of a request that is at fault.
public struct FieldViolation: Hashable, Sendable {
    /// The path of the field in the request, as `post.title`.
    public var field: String
    /// The cause, from the same names as the reason of a Status.
    public var reason: Reason
    /// The limit that was passed, in the field's unit; 0 where there is none.
    public var limit: UInt64
    /// The value in the request, in the same unit.
    public var actual: UInt64

    /// All fields; those with a default may be left out.
    public init(field: String, reason: Reason, limit: UInt64 = 0, actual: UInt64 = 0) {
        self.field = field
        self.reason = reason
        self.limit = limit
        self.actual = actual
    }
}

/// The class of a failure, with the numbers of google.rpc.Code.
public struct StatusCode: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Not a failure.
    public static var ok: Self { Self(rawValue: 0) }
    /// The caller no longer wants the answer.
    public static var cancelled: Self { Self(rawValue: 1) }
    /// The cause is unknown.
    public static var unknown: Self { Self(rawValue: 2) }
    /// The request can never succeed as it is.
    public static var invalidArgument: Self { Self(rawValue: 3) }
    /// The time that the caller gave had passed before the call was executed.
    public static var deadlineExceeded: Self { Self(rawValue: 4) }
    /// The thing that the request names does not exist.
    public static var notFound: Self { Self(rawValue: 5) }
    /// The thing that the request would create exists.
    public static var alreadyExists: Self { Self(rawValue: 6) }
    /// The caller is known and lacks the permission.
    public static var permissionDenied: Self { Self(rawValue: 7) }
    /// The service has too much to do or to hold.
    public static var resourceExhausted: Self { Self(rawValue: 8) }
    /// The state forbids the call, and sending it again does not help.
    public static var failedPrecondition: Self { Self(rawValue: 9) }
    /// Another caller was faster; read again.
    public static var aborted: Self { Self(rawValue: 10) }
    /// The request is past the end of what exists.
    public static var outOfRange: Self { Self(rawValue: 11) }
    /// The service does not know the method or the version.
    public static var unimplemented: Self { Self(rawValue: 12) }
    /// The service is at fault.
    public static var `internal`: Self { Self(rawValue: 13) }
    /// The service cannot be reached or is about to stop; send it again elsewhere or later.
    public static var unavailable: Self { Self(rawValue: 14) }
    /// Data is lost or corrupt beyond repair.
    public static var dataLoss: Self { Self(rawValue: 15) }
    /// The caller must say who it is.
    public static var unauthenticated: Self { Self(rawValue: 16) }

    /// The contract's names, by number.
    public static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
        "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
        "UNAUTHENTICATED",
    ]
}

extension Status: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__Status>) {
        unsafe feed__v1__status__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__Status>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            code: StatusCode(message.pointee.code),
            reason: Reason(rawValue: reader.text(message.pointee.reason, "reason")),
            message: reader.text(message.pointee.message, "message"),
            isNotExecuted: message.pointee.not_executed != 0,
            retryAfterMilliseconds: message.pointee.retry_after_ms,
            violations: reader.messages(
                message.pointee.violations,
                count: message.pointee.n_violations,
                "violations"
            ),
            leader: reader.text(message.pointee.leader, "leader")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__Status>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.code = code.cValue()
        unsafe message.pointee.reason = arena.text(reason.rawValue)
        unsafe message.pointee.message = arena.text(self.message)
        unsafe message.pointee.not_executed = isNotExecuted ? 1 : 0
        unsafe message.pointee.retry_after_ms = retryAfterMilliseconds
        unsafe message.pointee.n_violations = violations.count
        unsafe message.pointee.violations = arena.messages(violations)
        unsafe message.pointee.leader = arena.text(leader)
    }
}

extension FieldViolation: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__FieldViolation>) {
        unsafe feed__v1__field_violation__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__FieldViolation>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            field: reader.text(message.pointee.field, "field"),
            reason: Reason(rawValue: reader.text(message.pointee.reason, "reason")),
            limit: message.pointee.limit,
            actual: message.pointee.actual
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__FieldViolation>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.field = arena.text(field)
        unsafe message.pointee.reason = arena.text(reason.rawValue)
        unsafe message.pointee.limit = limit
        unsafe message.pointee.actual = actual
    }
}
