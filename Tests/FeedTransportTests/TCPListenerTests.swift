import FeedTestSupport
import FeedTransport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct TCPListenerTests {
    @Test func spreadsConnectionsEvenlyOverItsLoops() async throws {
        try await TestServer.Plan(loops: 3).run { server in
            var sockets: [TestSocket] = []
            for _ in 0..<30 { sockets.append(try await server.client()) }
            let all = sockets
            try await offload {
                for socket in all {
                    try socket.send([1])
                    _ = try socket.receive(1)
                }
            }
            #expect(server.threads.map(\.mailbox.connectionCount) == [10, 10, 10])
            #expect(server.counters.acceptedCount == 30)
            #expect(server.budget.connectionCount == 30)
        }
    }

    @Test func fillsTheLoopThatLostConnections() async throws {
        let closed = Recorder<Void>()
        try await TestServer.Plan(loops: 2) { handler in
            handler.closed = { _, _ in closed.record(()) }
        }.run { server in
            var sockets: [TestSocket] = []
            for _ in 0..<8 {
                let socket = try await server.client()
                _ = try await offload {
                    try socket.send([1])
                    return try socket.receive(1)
                }
                sockets.append(socket)
            }
            // Connections alternate, so the even ones are on one loop.
            for index in stride(from: 0, to: 8, by: 2) { sockets[index].close() }
            for _ in 0..<4 { try await closed.next() }
            // The loops count a connection out after its handler's last call.
            for thread in server.threads { await Self.settle(thread) }
            var more: [TestSocket] = []
            for _ in 0..<4 {
                let socket = try await server.client()
                _ = try await offload {
                    try socket.send([1])
                    return try socket.receive(1)
                }
                more.append(socket)
            }
            #expect(server.threads.map(\.mailbox.connectionCount) == [4, 4])
            withExtendedLifetime((sockets, more)) {}
        }
    }

    private static func settle(_ thread: EventLoopThread) async {
        await withCheckedContinuation { continuation in
            thread.mailbox.post { _ in continuation.resume() }
        }
    }

    @Test func refusesConnectionsOverTheMaximumWithItsText() async throws {
        let admission = Admission(maximumConnectionCount: 2, refusal: Array("full".utf8))
        try await TestServer.Plan(loops: 2, admission: admission).run { server in
            let sockets = [try await server.client(), try await server.client()]
            try await offload {
                for socket in sockets {
                    try socket.send([1])
                    _ = try socket.receive(1)
                }
            }
            for _ in 0..<3 {
                let refused = try await server.client()
                let text = try await offload {
                    // What it sends first does not destroy the text.
                    try refused.send([1, 2, 3])
                    return try refused.receiveUntilEndOfFile()
                }
                #expect(text == Array("full".utf8))
            }
            #expect(server.counters.refusedCount == 3)
            #expect(server.counters.acceptedCount == 2)
            let echo = try await offload {
                try sockets[0].send([7])
                return try sockets[0].receive(1)
            }
            #expect(echo == [7])
        }
    }

    @Test func closesRefusedConnectionsAtOnceWhenMoreLingerThanMay() async throws {
        let admission = Admission(
            maximumConnectionCount: 0,
            refusal: [1],
            maximumLingeringRefusals: 2
        )
        var configuration = TransportConfiguration.patient
        configuration.lingerTimeout = .seconds(3_600)
        try await TestServer.Plan(configuration: configuration, admission: admission).run {
            server in
            var texts: [[UInt8]] = []
            var sockets: [TestSocket] = []
            for _ in 0..<4 {
                let socket = try await server.client()
                sockets.append(socket)
                texts.append(try await offload { try socket.receiveUntilEndOfFile() })
            }
            #expect(texts == [[1], [1], [], []])
        }
    }

    @Test func letsInExactlyItsMaximumAfterManyRefusals() async throws {
        let admission = Admission(maximumConnectionCount: 3, refusal: [0])
        let closed = Recorder<Void>()
        try await TestServer.Plan(loops: 2, admission: admission) { handler in
            handler.closed = { _, _ in closed.record(()) }
        }.run { server in
            for _ in 0..<2 {
                var sockets: [TestSocket] = []
                for _ in 0..<3 {
                    let socket = try await server.client()
                    let echo = try await offload {
                        try socket.send([7])
                        return try socket.receive(1)
                    }
                    #expect(echo == [7])
                    sockets.append(socket)
                }
                for _ in 0..<500 {
                    let refused = try await server.client()
                    let text = try await offload { try refused.receiveUntilEndOfFile() }
                    // More may linger than are sent a refusal.
                    #expect(text == [0] || text.isEmpty)
                }
                for socket in sockets { socket.close() }
                for _ in 0..<3 { try await closed.next() }
                for thread in server.threads { await Self.settle(thread) }
            }
            #expect(server.counters.acceptedCount == 6)
            #expect(server.counters.refusedCount == 1_000)
        }
    }

    @Test func letsAConnectionInWhileRefusedOnesLinger() async throws {
        var configuration = TransportConfiguration.patient
        configuration.lingerTimeout = .seconds(60)
        let closed = Recorder<Void>()
        let admission = Admission(maximumConnectionCount: 1, refusal: [0])
        try await TestServer.Plan(configuration: configuration, admission: admission) { handler in
            handler.closed = { _, _ in closed.record(()) }
        }.run { server in
            let first = try await server.client()
            let refused = try await server.client()
            let refusal = try await offload { try refused.receiveUntilEndOfFile() }
            #expect(refusal == [0])
            first.close()
            try await closed.next()
            await Self.settle(server.threads[0])
            let second = try await server.client()
            let echo = try await offload {
                try second.send([7])
                return try second.receive(1)
            }
            #expect(echo == [7])
            withExtendedLifetime(refused) {}
        }
    }

    @Test func servesWhoConnectedBeforeItClosedAndNobodyAfter() async throws {
        let reserved = try ReservedPort()
        let port = Recorder<UInt16>()
        let gate = Gate()
        let thread = try EventLoopThread { loop in
            do throws(TransportError) {
                let listener = try TCPListener(
                    at: .loopback(port: reserved.number),
                    on: loop,
                    targets: [loop.mailbox]
                ) { _ in ScriptedHandler() }
                port.record(listener.address.port)
                gate.wait()
                listener.close()
            } catch {
                Issue.record(error)
            }
        }
        let number = try await port.next()
        // They wait in the kernel's queue, far more than are accepted in one iteration.
        let sockets = try await offload { try (0..<200).map { _ in try TestSocket(port: number) } }
        gate.open()
        let echoes = try await offload {
            try sockets.map { socket in
                try socket.send([4])
                return try socket.receive(1)
            }
        }
        #expect(echoes == Array(repeating: [4], count: 200))
        await #expect(throws: TestSocket.Failure.system(call: "connect", number: 111)) {
            try await offload { try TestSocket(port: reserved.number) }
        }
        thread.stop()
        try await offload { thread.join() }
    }

    @Test func saysThatAnAddressIsTaken() async throws {
        try await TestServer.Plan().run { server in
            let address = server.address
            let error = await server.onLoop { loop in Self.listenError(at: address, on: loop) }
            #expect(error == .addressInUse(address))
            #expect(error?.description == "\(address) is in use by another process.")
        }
    }

    @Test func saysThatAnAddressIsNotOfThisMachine() async throws {
        // Of TEST-NET-1, which is for documentation only.
        let address = try SocketAddress(parsing: "192.0.2.1:7433")
        try await TestServer.Plan().run { server in
            let error = await server.onLoop { loop in Self.listenError(at: address, on: loop) }
            #expect(error == .addressNotAvailable(address))
        }
    }

    private static func listenError(
        at address: SocketAddress,
        on loop: EventLoop
    ) -> TransportError? {
        do throws(TransportError) {
            _ = try TCPListener(at: address, on: loop, targets: [loop.mailbox]) { _ in
                ScriptedHandler()
            }
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        (
            TransportError.permissionDenied(.loopback(port: 80)),
            "No permission to use 127.0.0.1:80: ports below 1024 need the right to bind them."
        ),
        (
            .addressNotAvailable(.loopback(port: 80)),
            "127.0.0.1:80 is not an address of this machine, or no local port is left."
        ),
        (
            .invalidAddress("x", "the port is missing"),
            "\"x\" is not an address: the port is missing."
        ),
        (.tooManyOpenFiles, "Too many open files: raise the limit (ulimit -n)."),
        (.connectionRefused, "The connection was refused: nothing listens at the address."),
        (
            .system(operation: "Reading", code: -5, text: "EIO: i/o error"),
            "Reading failed: EIO: i/o error."
        ),
    ])
    func saysWhatHappened(error: TransportError, text: String) {
        #expect(error.description == text)
    }
}

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
