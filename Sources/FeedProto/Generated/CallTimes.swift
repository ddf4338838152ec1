// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

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

extension CallTimes: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 48 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .fixed64)
        case 1: FieldShape(2, .fixed64)
        default: FieldShape(3, .fixed64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            receivedNanoseconds: tree.number(node, 0),
            executedNanoseconds: tree.number(node, 1),
            releasedNanoseconds: tree.number(node, 2)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.fixed64(1, receivedNanoseconds)
        writer.fixed64(2, executedNanoseconds)
        writer.fixed64(3, releasedNanoseconds)
    }
}
