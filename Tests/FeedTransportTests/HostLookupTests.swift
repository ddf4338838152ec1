import FeedTestSupport
import FeedTransport
import Testing

/// Names become addresses on a thread that delays no loop.
@Suite(.timeLimit(.minutes(10))) struct HostLookupTests {
    /// Looks a name up from a loop, and ends the loop with the answer.
    private func answer(
        to name: String,
        _ lookup: HostLookup = .system
    ) async throws
        -> HostLookup.Answer
    {
        let answers = Recorder<HostLookup.Answer>()
        let thread = try EventLoopThread(
            name: "lookup",
            configuration: TransportConfiguration(),
            budget: BufferBudget()
        ) { loop in
            do throws(TransportError) {
                try lookup.start(name, port: 80, on: loop.mailbox) { loop, answer in
                    answers.record(answer)
                    loop.stop()
                }
            } catch {
                answers.record(.failure(error))
                loop.stop()
            }
        }
        try await offload { thread.join() }
        return try await answers.next()
    }

    @Test func findsTheAddressesOfThisMachine() async throws {
        let addresses = try await answer(to: "localhost").get()
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { $0.isLoopback && $0.port == 80 })
        #expect(Set(addresses).count == addresses.count)
    }

    @Test func namesTheHostThatHasNone() async throws {
        guard
            case .failure(.unknownHost(let name, let reason)) = try await answer(to: "feed.invalid")
        else {
            Issue.record("A reserved name has an address.")
            return
        }
        #expect(name == "feed.invalid")
        #expect(reason.hasSuffix("."))
    }

    @Test func aLoopThatStopsDoesNotWaitForALookup() async throws {
        let gate = Gate()
        let blocked = HostLookup { _, _ in
            gate.wait()
            return .success([])
        }
        let thread = try EventLoopThread(
            name: "lookup",
            configuration: TransportConfiguration(),
            budget: BufferBudget()
        ) { loop in
            try? blocked.start("any", port: 1, on: loop.mailbox) { _, _ in
                Issue.record("A stopped loop got an answer.")
            }
            loop.stop()
        }
        try await offload { thread.join() }
        gate.open()
    }
}
