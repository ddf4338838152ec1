/// What a run with retries sent more than once; none of it counts as sent in the outcomes.
package struct Retries: Sendable, Equatable {
    /// Requests sent again, each time counted.
    package var retryCount: UInt64 = 0
    /// Connections that were opened again.
    package var reconnectCount: UInt64 = 0
    /// Mutations sent again that the service had executed before, according to the last sequence it
    /// named.
    package var duplicateCount: UInt64 = 0

    /// Nothing sent again.
    package init() {}

    /// What both sent again.
    package static func + (one: Retries, other: Retries) -> Retries {
        var sum = one
        sum.retryCount += other.retryCount
        sum.reconnectCount += other.reconnectCount
        sum.duplicateCount += other.duplicateCount
        return sum
    }
}
