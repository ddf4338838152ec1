// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension CallTimes: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CallTimes>) {
        unsafe feed__v1__call_times__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CallTimes>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            receivedNanoseconds: message.pointee.received_ns,
            executedNanoseconds: message.pointee.executed_ns,
            releasedNanoseconds: message.pointee.released_ns
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CallTimes>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.received_ns = receivedNanoseconds
        unsafe message.pointee.executed_ns = executedNanoseconds
        unsafe message.pointee.released_ns = releasedNanoseconds
    }
}

#endif
