import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FairnessTests {
    @Test func servesOthersBetweenTheTurnsOfAFlood() async throws {
        // A byte is a request; the flood is of 1, the other's of 2. At most 64 a call.
        let order = Recorder<(byte: UInt8, count: Int)>()
        try await TestServer.Plan { handler in
            handler.received = { connection, bytes in
                let count = min(64, bytes.count)
                order.record((bytes[0], count))
                connection.write(Array(bytes[..<count]))
                return ReadProgress(
                    consumedByteCount: count,
                    wantsIteration: count < bytes.count
                )
            }
        }.run { server in
            let flood = try await server.client()
            let other = try await server.client()
            // Both are accepted, and the loop is held until both have sent.
            try await offload { [flood, other] in
                try flood.send([1])
                _ = try flood.receive(1)
                try other.send([2])
                _ = try other.receive(1)
            }
            let gate = try await server.holdLoop()
            try await offload {
                try flood.send([UInt8](repeating: 1, count: 20_000))
                try other.send([2])
                gate.open()
                _ = try other.receive(1)
                _ = try flood.receive(20_000)
            }
            let served = order.events.dropFirst(2)
            let place = try #require(served.firstIndex { $0.byte == 2 })
            let before = served[..<place].reduce(0) { $0 + $1.count }
            #expect(before <= 2 * 64, "\(before) requests of the flood went first.")
            #expect(served.filter { $0.byte == 1 }.reduce(0) { $0 + $1.count } == 20_000)
        }
    }

    @Test func readsOneBufferOfAConnectionATurn() async throws {
        // Consuming everything does not let a flood have the loop for itself either.
        var configuration = TransportConfiguration.patient
        configuration.receiveBufferByteCount = 1_024
        let order = Recorder<UInt8>()
        try await TestServer.Plan(configuration: configuration) { handler in
            handler.received = { connection, bytes in
                order.record(bytes[0])
                connection.write([bytes[bytes.count - 1]])
                return ReadProgress(consumedByteCount: bytes.count)
            }
        }.run { server in
            let flood = try await server.client()
            let other = try await server.client()
            try await offload {
                try flood.send([0])
                _ = try flood.receive(1)
                try other.send([0])
                _ = try other.receive(1)
            }
            let gate = try await server.holdLoop()
            try await offload {
                try flood.send([UInt8](repeating: 1, count: 20_480))
                try other.send([2])
                gate.open()
                _ = try other.receive(1)
                _ = try flood.receive(20)
            }
            let served = order.events.dropFirst(2)
            let place = try #require(served.firstIndex { $0 == 2 })
            #expect(served[..<place].count <= 1)
        }
    }
}
