import FeedTestSupport
import FeedTransport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct DescriptorExhaustionTests {
    /// In a process of its own, as the limit of open files is the process's.
    @Test func restsWithoutDescriptorsAndGoesOnWithThem() async {
        await #expect(processExitsWith: .success) {
            try await TestServer.Plan().run { server in
                // They wait in the kernel's queue while the loop is held.
                let gate = try await server.holdLoop()
                var sockets: [TestSocket] = []
                for _ in 0..<12 { sockets.append(try await server.client()) }
                let free = try #require(firstFreeDescriptor())
                setOpenFileLimit(free + 4)
                gate.open()
                let hasRested = try await rests(server)
                #expect(hasRested)
                // The queue is not empty, but further loop iterations do not look at it.
                for _ in 0..<30 { await server.onLoop { _ in } }
                #expect(server.counters.restCount <= 3)
                setOpenFileLimit(1_024)
                // Four were let in and few were closed in the rests; the others are served now.
                let last = try #require(sockets.last)
                let echo = try await offload {
                    try last.send([9])
                    return try last.receive(1)
                }
                #expect(echo == [9])
                #expect(server.counters.acceptedCount >= 4)
            }
        }
    }

    /// In a process of its own, as it looks for the listener among the process's descriptors.
    @Test func restsWhereAcceptingFailsForAnotherReason() async {
        await #expect(processExitsWith: .success) {
            try await TestServer.Plan().run { server in
                breakListener(port: server.address.port)
                let hasRested = try await rests(server)
                #expect(hasRested)
                for _ in 0..<30 { await server.onLoop { _ in } }
                #expect(server.counters.restCount <= 3)
            }
        }
    }
}

/// Makes the listening socket of `port` fail every accept and yet be ready for the next.
private func breakListener(port: UInt16) {
    for descriptor: Int32 in 0..<1_024 {
        var address = sockaddr_in()
        var isListening: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length)
        guard isListening == 1 else { continue }
        length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        if address.sin_port == port.bigEndian { shutdown(descriptor, Int32(SHUT_RD)) }
    }
}

/// Waits until the listener has rested; false if it has not after 5,000 ticks of its loop.
private func rests(_ server: TestServer) async throws -> Bool {
    let rested = Recorder<Bool>()
    let counters = server.counters
    await server.onLoop { loop in
        var ticks = 0
        _ = try? loop.addTimer(every: .milliseconds(1)) {
            ticks += 1
            if counters.restCount > 0 || ticks == 5_000 { rested.record(counters.restCount > 0) }
        }
    }
    return try await rested.next()
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
