/// The TLS handshakes under way on a server's loop, in the order of their begin.
///
/// Where there are too many, one of the host with most handshakes gives way: the oldest of which no
/// bytes wait to be worked on, and so one that has stopped halfway rather than one that is slow.
package struct HandshakeTable<Connection: AnyObject> {
    private struct Entry {
        let connection: Connection
        let host: HostSlot
    }

    private var entries: [Entry] = []
    private var counts: [HostSlot: Int] = [:]

    /// A table without handshakes.
    package init() {}

    /// The handshakes under way.
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

    /// The handshake that has to end before another one begins; nil while there is room.
    ///
    /// O(handshakes). The caller ends it, which removes it.
    ///
    /// - Parameters:
    ///   - limit: The handshakes that may be under way.
    ///   - isSilent: Whether no bytes of a connection wait to be worked on.
    /// - Returns: The connection of the handshake.
    package func connectionToGiveWay(
        limit: Int,
        isSilent: (Connection) -> Bool
    ) -> Connection? {
        guard count >= limit else { return nil }
        let most = counts.values.max() ?? 0
        let greedy = entries.lazy.filter { counts[$0.host] == most }
        let chosen = greedy.first { isSilent($0.connection) } ?? greedy.first
        return chosen?.connection
    }
}
