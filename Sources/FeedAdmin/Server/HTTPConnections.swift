internal import FeedTransport

/// The open connections of the operator's address, the one that has waited longest for a request first.
///
/// One more than ``HTTPLimits/connectionCount`` closes the first: clients that keep connections without
/// a use for them shut nobody out. The lists are short, so each step is O(connections).
final class HTTPConnections {
    private var waiting: [TCPConnection] = []

    /// The connections of a loop, which was given them at its start.
    static func of(_ loop: EventLoop) -> HTTPConnections {
        guard let connections = loop.context as? HTTPConnections else {
            preconditionFailure("The loop of the pages is given its connections at its start.")
        }
        return connections
    }

    /// A connection has opened.
    func add(_ connection: TCPConnection) {
        if waiting.count >= HTTPLimits.connectionCount { waiting.removeFirst().reset() }
        waiting.append(connection)
    }

    /// A connection has brought a request.
    func touch(_ connection: TCPConnection) {
        guard let index = waiting.firstIndex(where: { $0 === connection }) else { return }
        waiting.append(waiting.remove(at: index))
    }

    /// A connection has closed.
    func remove(_ connection: TCPConnection) { waiting.removeAll { $0 === connection } }
}

@available(*, unavailable)
extension HTTPConnections: Sendable {}
