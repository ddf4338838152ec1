internal import FeedConcurrency
internal import FeedTLS

/// What the secured connections of a loop share; a loop without any has none of it.
///
/// A handshake takes some hundred microseconds of arithmetic. So handshakes are worked on for a
/// bounded time in each iteration, and a storm of them leaves the rest of the time to open
/// connections. Hosts have equal shares of that time, however many handshakes each of them begins.
final class LoopTLS {
    let buffers: TLSBuffers
    /// The handshakes of peers that have connected.
    var handshakes = HandshakeTable<TCPConnection>()
    /// The handshakes of which bytes wait to be worked on; their cost is in nanoseconds.
    private var queue = LoopTLS.emptyQueue

    init(readByteCount: Int) { buffers = TLSBuffers(readByteCount: readByteCount) }

    var hasWork: Bool { !queue.isEmpty }

    private static var emptyQueue: FairQueue<HostSlot, TCPConnection> {
        FairQueue(halvingCost: TransportLimits.handshakeMemoryNanoseconds)
    }

    func add(_ connection: TCPConnection) { queue.append(connection, of: connection.hostSlot) }

    /// Forgets the handshakes that wait, so that their connections are released with the loop.
    func removeAll() { queue = LoopTLS.emptyQueue }

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

/// The TLS handshake of one connection, until the connection opens.
final class Handshake {
    /// The side that this process takes.
    enum Side {
        /// The peer has connected; its handler is made when the connection opens.
        case server(TLSAcceptor, TCPConnection.MakeHandler)
        case client(TLSTarget)
    }

    let side: Side
    /// Whether bytes of the peer wait to be worked on.
    var isQueued = false

    init(_ side: Side) { self.side = side }
}

/// The TLS handshakes under way on a server's loop, in the order of their begin.
///
/// If there are too many, one of the host with most handshakes gives way: the oldest of which no
/// bytes wait to be worked on, and so one that has stopped halfway rather than one that is slow.
package struct HandshakeTable<Connection: AnyObject> {
    private struct Entry {
        let connection: Connection
        let host: HostSlot
    }

    private var entries: [Entry] = []
    private var counts: [HostSlot: Int] = [:]

    package init() {}

    package var count: Int { entries.count }

    /// Adds a handshake that begins now; O(1).
    package mutating func add(_ connection: Connection, from host: HostSlot) {
        entries.append(Entry(connection: connection, host: host))
        counts[host, default: 0] += 1
    }

    /// Removes a handshake that has ended; O(handshakes).
    package mutating func remove(_ connection: Connection) {
        guard let place = entries.firstIndex(where: { $0.connection === connection }) else {
            return
        }
        let host = entries.remove(at: place).host
        let left = (counts[host] ?? 1) - 1
        counts[host] = left > 0 ? left : nil
    }

    /// The connection whose handshake has to end before another one begins; nil while there is room.
    ///
    /// O(handshakes). The caller ends it, which removes it. One is silent if none of its bytes wait to be
    /// worked on.
    package func connectionToGiveWay(limit: Int, isSilent: (Connection) -> Bool) -> Connection? {
        guard count >= limit else { return nil }
        let most = counts.values.max() ?? 0
        let greedy = entries.lazy.filter { counts[$0.host] == most }
        let chosen = greedy.first { isSilent($0.connection) } ?? greedy.first
        return chosen?.connection
    }
}
