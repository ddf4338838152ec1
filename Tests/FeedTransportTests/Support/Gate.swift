import FeedTestSupport
import FeedTransport
import Synchronization

/// Holds a loop's thread, which is no thread of Swift's pool, until the test lets it go.
final class Gate: Sendable {
    private let isOpen = Atomic<Bool>(false)

    func open() {
        isOpen.store(true, ordering: .releasing)
    }

    func wait() {
        while !isOpen.load(ordering: .acquiring) {}
    }
}

extension TestServer {
    /// Holds the first loop at a gate, and returns once it stands there: what comes before the gate is
    /// opened is ready at once.
    func holdLoop() async throws -> Gate {
        let (gate, arrival) = (Gate(), Gate())
        threads[0].mailbox.post { _ in
            arrival.open()
            gate.wait()
        }
        try await offload { arrival.wait() }
        return gate
    }
}
