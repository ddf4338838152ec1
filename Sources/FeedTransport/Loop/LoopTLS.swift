internal import FeedConcurrency
internal import FeedTLS

/// What the secured connections of a loop share; a loop without any has none of it.
///
/// A handshake takes some hundred microseconds of arithmetic. So handshakes are worked on for a
/// bounded time in each iteration, and a storm of them leaves the rest of the time to open
/// connections. Hosts have equal shares of that time, however many handshakes each of them begins.
final class LoopTLS {
    /// The buffers that connections decrypt into and encrypt into.
    let buffers: TLSBuffers
    /// The handshakes of peers that have connected.
    var handshakes = HandshakeTable<TCPConnection>()
    /// The handshakes of which bytes wait to be worked on; their cost is in nanoseconds.
    private var queue = LoopTLS.emptyQueue

    /// For reads of at most that many bytes.
    init(readByteCount: Int) {
        buffers = TLSBuffers(readByteCount: readByteCount)
    }

    /// Whether handshakes wait to be worked on.
    var hasWork: Bool { !queue.isEmpty }

    private static var emptyQueue: FairQueue<HostSlot, TCPConnection> {
        FairQueue(halvingCost: TransportLimits.handshakeMemoryNanoseconds)
    }

    /// Queues a handshake behind the others of its host.
    func add(_ connection: TCPConnection) { queue.append(connection, of: connection.hostSlot) }

    /// Forgets the handshakes that wait, so that their connections are released with the loop.
    func removeAll() { queue = LoopTLS.emptyQueue }

    /// Overwrites the plaintext that connections have received.
    func overwrite() { buffers.overwrite() }

    /// Works on the handshakes that wait, one at least, until an iteration's time for it is over.
    func work() {
        var begin = MonotonicInstant.now
        let end = begin.advanced(by: TransportLimits.handshakeTimePerIteration)
        while begin < end, let (host, connection) = queue.popFirst() {
            connection.continueHandshake()
            let now = MonotonicInstant.now
            queue.charge(host, Int(now.nanoseconds - begin.nanoseconds))
            begin = now
        }
    }
}
