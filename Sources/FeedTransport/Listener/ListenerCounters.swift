import Synchronization

/// The counters of a listener, readable from any thread.
package final class ListenerCounters: Sendable {
    private let accepted = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let rests = Atomic<Int>(0)

    /// Connections that a loop has taken over.
    package var acceptedCount: Int { accepted.load(ordering: .relaxed) }

    /// Connections over the maximum.
    package var refusedCount: Int { refused.load(ordering: .relaxed) }

    /// Times that the system had no descriptor or memory left for a connection.
    package var restCount: Int { rests.load(ordering: .relaxed) }

    func countAccepted() { accepted.wrappingAdd(1, ordering: .relaxed) }
    func countRefused() { refused.wrappingAdd(1, ordering: .relaxed) }
    func countRest() { rests.wrappingAdd(1, ordering: .relaxed) }
}
