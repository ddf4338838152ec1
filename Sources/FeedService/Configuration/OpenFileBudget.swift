/// Divides the files that the process may open between the process itself and its connections.
package struct OpenFileBudget: Equatable, Sendable {
    /// The files that the process may open (`ulimit -n`).
    package let limit: Int
    /// The event loops of the service.
    package let threadCount: Int

    /// The budget of a service.
    ///
    /// - Parameters:
    ///   - limit: The files that the process may open.
    ///   - threadCount: The event loops.
    package init(limit: Int, threadCount: Int) {
        self.limit = limit
        self.threadCount = threadCount
    }

    /// The files that connections leave to the rest of the process: four a loop for libuv, and 64
    /// for listeners, the journal, the database and the logs.
    package var reservedCount: Int { Self.reservedCount + Self.filesPerLoop * threadCount }

    /// The connections that are left; below one, the service cannot serve.
    package var connectionCount: Int { limit - reservedCount }

    /// The most loops that leave half of the files above the reserve to connections; at least one.
    package static func maximumThreadCount(limit: Int) -> Int {
        max(1, (limit - reservedCount) / (2 * filesPerLoop))
    }

    private static let reservedCount = 64
    private static let filesPerLoop = 4
}
