import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct EchoTests {
    @Test(arguments: 0..<6)
    func givesBackWhatItGotHoweverItWasCut(seed: UInt64) async throws {
        try await TestServer.Plan().run { server in
            let socket = try await server.client()
            let echoed = try await offload {
                var random = SeededGenerator(seed: seed)
                var sent: [UInt8] = []
                var received: [UInt8] = []
                for _ in 0..<200 {
                    let bytes = random.bytes(Int.random(in: 1...3_000, using: &random))
                    try socket.send(bytes)
                    sent += bytes
                    let count = Int.random(in: 0...sent.count - received.count, using: &random)
                    received += try socket.receive(count)
                }
                socket.shutDownSending()
                received += try socket.receiveUntilEndOfFile()
                return sent == received
            }
            #expect(echoed, "seed \(seed)")
        }
    }

    @Test func leavesAnIncompleteTailForTheNextBytes() async throws {
        // Frames of one length byte and as many others; the answer is a frame's sum.
        try await TestServer.Plan { handler in
            handler.received = { connection, bytes in
                var consumed = 0
                while consumed < bytes.count, bytes.count > consumed + Int(bytes[consumed]) {
                    let end = consumed + 1 + Int(bytes[consumed])
                    connection.write([bytes[consumed + 1..<end].reduce(0, &+)])
                    consumed = end
                }
                return ReadProgress(consumedByteCount: consumed)
            }
        }.run { server in
            let socket = try await server.client()
            let sums = try await offload {
                for byte: UInt8 in [3, 1, 2, 3, 0, 2, 9] { try socket.send([byte]) }
                try socket.send([9, 1, 7, 200])
                try socket.send([UInt8](repeating: 1, count: 200) + [5, 1])
                socket.shutDownSending()
                return try socket.receiveUntilEndOfFile()
            }
            #expect(sums == [6, 0, 18, 7, 200])
        }
    }

    @Test func finishesAPeerThatClosedItsSideFirst() async throws {
        let reasons = Recorder<CloseReason>()
        try await TestServer.Plan { handler in
            handler.closed = { _, reason in reasons.record(reason) }
        }.run { server in
            let socket = try await server.client()
            let answer = try await offload {
                try socket.send([1, 2, 3])
                socket.shutDownSending()
                return try socket.receiveUntilEndOfFile()
            }
            #expect(answer == [1, 2, 3])
            #expect(try await reasons.next() == .peerClosed)
        }
    }

    @Test func notifiesOfTheEndAfterAllThatCameBeforeWasHandled() async throws {
        let events = Recorder<String>()
        // One byte an iteration: the end of file is there long before the last one.
        try await TestServer.Plan { handler in
            handler.received = { connection, bytes in
                events.record("byte \(bytes[0])")
                return ReadProgress(consumedByteCount: 1, wantsIteration: bytes.count > 1)
            }
            handler.ended = { connection in
                events.record("end")
                connection.closeAfterFlush()
            }
            handler.closed = { _, reason in events.record("\(reason)") }
        }.run { server in
            let socket = try await server.client()
            _ = try await offload {
                try socket.send([0, 1, 2, 3])
                socket.shutDownSending()
                return try socket.receiveUntilEndOfFile()
            }
            let wanted = ["byte 0", "byte 1", "byte 2", "byte 3", "end", "peerClosed"]
            for event in wanted { #expect(try await events.next() == event) }
        }
    }

    @Test func showsAgainWhatAHandlerPutOff() async throws {
        let events = Recorder<Int>()
        try await TestServer.Plan { handler in
            var calls = 0
            handler.received = { connection, bytes in
                calls += 1
                events.record(bytes.count)
                guard calls == 3 else {
                    connection.requestIteration()
                    return ReadProgress(consumedByteCount: 0)
                }
                connection.write(bytes)
                return ReadProgress(consumedByteCount: bytes.count)
            }
        }.run { server in
            let socket = try await server.client()
            let answer = try await offload {
                try socket.send([5, 6])
                return try socket.receive(2)
            }
            #expect(answer == [5, 6])
            #expect(events.events == [2, 2, 2])
        }
    }
}
