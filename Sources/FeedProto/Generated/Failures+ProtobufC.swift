// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

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

#endif
