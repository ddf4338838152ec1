internal import FeedConcurrency
internal import FeedTLS

/// What the secured connections of a loop share; a loop without any has none of it.
///
/// A handshake takes some hundred microseconds of arithmetic. So handshakes are worked on for a
/// bounded time in each iteration, and a storm of them leaves the rest of the time to open
/// connections.
final class LoopTLS {
    /// The buffers that connections decrypt into and encrypt into.
    let buffers: TLSBuffers
    /// The handshakes of peers that have connected.
    var handshakes = HandshakeTable<TCPConnection>()
    /// The handshakes of which bytes wait to be worked on, from `next` on.
    private var queue: [TCPConnection] = []
    private var next = 0

    /// For reads of at most that many bytes.
    init(readByteCount: Int) {
        buffers = TLSBuffers(readByteCount: readByteCount)
    }

    /// Whether handshakes wait to be worked on.
    var hasWork: Bool { next < queue.count }

    /// Queues a handshake behind the others.
    func add(_ connection: TCPConnection) { queue.append(connection) }

    /// Forgets the handshakes that wait, so that their connections are released with the loop.
    func removeAll() {
        queue = []
        next = 0
    }

    /// Overwrites the plaintext that connections have received.
    func overwrite() { buffers.overwrite() }

    /// Works on the handshakes that wait, one at least, until an iteration's time for it is over.
    func work() {
        guard hasWork else { return }
        let end = MonotonicInstant.now.advanced(by: TransportLimits.handshakeTimePerIteration)
        repeat {
            let connection = queue[next]
            next += 1
            connection.continueHandshake()
        } while hasWork && MonotonicInstant.now < end
        if !hasWork {
            queue.removeAll(keepingCapacity: true)
        } else if next > TransportLimits.maximumHandshakeCount {
            queue.removeFirst(next)
        } else {
            return
        }
        next = 0
    }
}
