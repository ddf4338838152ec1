/// Counts the connections of a thread: begun, opened, and still open.
struct ConnectionCounts {
    /// Connections that opened.
    private(set) var openedCount = 0
    /// Connections that are open.
    private(set) var openCount = 0

    private let clientCount: Int
    private var begunCount = 0
    private var decidedCount = 0

    /// The counts for `clientCount` connections, none of them begun.
    init(clientCount: Int) {
        self.clientCount = clientCount
    }

    /// Whether each connection has opened or failed.
    var isDecided: Bool { decidedCount == clientCount }

    /// The number of the connection to begin now, or nil when all were begun.
    mutating func nextToConnect() -> Int? {
        guard begunCount < clientCount else { return nil }
        begunCount += 1
        return begunCount - 1
    }

    /// Records how a connection attempt ended.
    mutating func decide(isOpen: Bool) {
        decidedCount += 1
        guard isOpen else { return }
        openedCount += 1
        openCount += 1
    }

    /// Records the end of an open connection.
    mutating func lose() {
        openCount -= 1
    }
}
