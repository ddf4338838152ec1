/// Counts the connections of a thread: begun, opened, and still open.
package struct ConnectionCounts {
    /// Connections that opened.
    package private(set) var openedCount = 0
    /// Connections that are open.
    package private(set) var openCount = 0

    private let clientCount: Int
    private var begunCount = 0
    private var decidedCount = 0

    /// The counts for `clientCount` connections, none of them begun.
    package init(clientCount: Int) {
        self.clientCount = clientCount
    }

    /// Whether each connection has opened or failed.
    package var isDecided: Bool { decidedCount == clientCount }

    /// Whether each connection was begun.
    package var areBegun: Bool { begunCount == clientCount }

    /// The number of the connection to begin now; nil when all were begun, or `dueCount` were, or
    /// `limit` are begun and not decided.
    package mutating func nextToConnect(
        dueCount: Int,
        limit: Int = maximumConnectingCount
    ) -> Int? {
        guard begunCount < min(clientCount, dueCount), begunCount - decidedCount < limit else {
            return nil
        }
        begunCount += 1
        return begunCount - 1
    }

    /// Records how a connection attempt ended.
    package mutating func decide(isOpen: Bool) {
        decidedCount += 1
        guard isOpen else { return }
        openedCount += 1
        openCount += 1
    }

    /// Records the end of an open connection.
    package mutating func lose() {
        openCount -= 1
    }

    /// Connections that are opened at once, below any usual backlog.
    package static let maximumConnectingCount = 128
}
