import FeedTestSupport
import FeedTransport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1))) struct DescriptorExhaustionTests {
    /// In a process of its own, as the limit of open files is the process's.
    @Test func restsWithoutDescriptorsAndGoesOnWithThem() async {
        await #expect(processExitsWith: .success) {
            try await TestServer.Plan().run { server in
                // They wait in the kernel's queue while the loop is held.
                let gate = Gate()
                server.threads[0].mailbox.post { _ in gate.wait() }
                var sockets: [TestSocket] = []
                for _ in 0..<12 { sockets.append(try await server.client()) }
                let free = try #require(firstFreeDescriptor())
                setOpenFileLimit(free + 4)
                gate.open()
                let turns = await restedTurns(server)
                // Not one turn for each look at the queue: the listener does not spin.
                #expect(turns < 20)
                setOpenFileLimit(1_024)
                // Four were let in and few were closed in the rests; the others are served now.
                let last = try #require(sockets.last)
                let echo = try await offload {
                    try last.send([9])
                    return try last.receive(1)
                }
                #expect(echo == [9])
                #expect(server.counters.outOfDescriptorsCount >= 2)
                #expect(server.counters.outOfDescriptorsCount < 8)
                #expect(server.counters.acceptedCount >= 4)
            }
        }
    }
}

/// The turns of the loop from the first rest of its listener to the second.
private func restedTurns(_ server: TestServer) async -> Int {
    let counted = Recorder<Int>()
    let counters = server.counters
    server.threads[0].mailbox.post { loop in
        var turns = 0
        try? loop.onTurnEnd {
            switch counters.outOfDescriptorsCount {
            case 0: return
            case 1: turns += 1
            default:
                counted.record(turns)
                try? loop.onTurnEnd {}
            }
        }
    }
    return (try? await counted.next()) ?? .max
}

private func firstFreeDescriptor() -> Int32? {
    let descriptor = dup(0)
    guard descriptor >= 0 else { return nil }
    close(descriptor)
    return descriptor
}

private func setOpenFileLimit(_ count: Int32) {
    var limit = rlimit()
    _ = unsafe getrlimit(__rlimit_resource_t(7), &limit)
    limit.rlim_cur = rlim_t(count)
    _ = unsafe setrlimit(__rlimit_resource_t(7), &limit)
}
