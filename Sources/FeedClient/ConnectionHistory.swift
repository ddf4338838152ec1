/// What the connections of a client saw so far.
package struct ConnectionHistory: Sendable, Equatable {
    /// What was sent again and opened again.
    package let retries: RetryCounts
    /// The instance of the service that answered Hello last; nil before the first answer.
    package let instanceID: UInt64?
    /// Whether a connection is open and its Hello is answered.
    package let isConnected: Bool
}

/// How often calls were sent again and connections were opened again.
package struct RetryCounts: Sendable, Equatable {
    /// Calls sent again, each time counted.
    package var retryCount: UInt64 = 0
    /// Connections that were opened again.
    package var reconnectCount: UInt64 = 0
    /// Changes sent again that the service had executed before, according to the last sequence it
    /// named.
    package var duplicateCount: UInt64 = 0

    /// No call and no connection.
    package init() {}

    /// Adds the counts of another client.
    package mutating func add(_ other: RetryCounts) {
        retryCount += other.retryCount
        reconnectCount += other.reconnectCount
        duplicateCount += other.duplicateCount
    }
}
