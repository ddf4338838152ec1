// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

/// When the service had a call, in nanoseconds of its machine's monotonic clock.
///
/// The differences are how long the call took in the service. A client on the same machine has the
/// same clock, and knows by it how long the call and its answer were on their way.
public struct CallTimes: Equatable, Sendable {
    /// When the service had read the call.
    public var receivedNanoseconds: UInt64
    /// When it had executed the call and encoded the answer.
    public var executedNanoseconds: UInt64
    /// When it gave the answer to the kernel: once what the answer shows was durable.
    public var releasedNanoseconds: UInt64

    /// All fields; each must be given.
    public init(
        receivedNanoseconds: UInt64,
        executedNanoseconds: UInt64,
        releasedNanoseconds: UInt64
    ) {
        self.receivedNanoseconds = receivedNanoseconds
        self.executedNanoseconds = executedNanoseconds
        self.releasedNanoseconds = releasedNanoseconds
    }
}

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
