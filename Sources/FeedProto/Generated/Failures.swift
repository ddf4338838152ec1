// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

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

extension Status: SwiftMessage {
    package static var fieldCount: Int { 7 }
    package static var structByteCount: Int { 104 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .int32)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .bytes)
        case 3: FieldShape(4, .bool)
        case 4: FieldShape(5, .uint32)
        case 5: FieldShape(6, .message(FieldViolation.self), .repeated)
        default: FieldShape(7, .bytes)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            code: tree.value(node, 0),
            reason: Reason(rawValue: tree.text(node, 1, "reason")),
            message: tree.text(node, 2, "message"),
            isNotExecuted: tree.flag(node, 3),
            retryAfterMilliseconds: tree.number(node, 4),
            violations: tree.messages(node, 5, "violations"),
            leader: tree.text(node, 6, "leader")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.value(1, code)
        writer.text(2, reason.rawValue)
        writer.text(3, message)
        writer.flag(4, isNotExecuted)
        writer.number(5, retryAfterMilliseconds)
        writer.messages(6, violations)
        writer.text(7, leader)
    }
}

extension FieldViolation: SwiftMessage {
    package static var fieldCount: Int { 4 }
    package static var structByteCount: Int { 72 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .uint64)
        default: FieldShape(4, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            field: tree.text(node, 0, "field"),
            reason: Reason(rawValue: tree.text(node, 1, "reason")),
            limit: tree.number(node, 2),
            actual: tree.number(node, 3)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, field)
        writer.text(2, reason.rawValue)
        writer.number(3, limit)
        writer.number(4, actual)
    }
}
