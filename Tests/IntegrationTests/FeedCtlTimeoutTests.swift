import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// `--timeout` of `feedctl` with services that are silent.
@Suite(.timeLimit(.minutes(10))) struct FeedCtlTimeoutTests {
    /// A service whose answers a test gives.
    private struct Peer: ~Copyable {
        let socket: TestSocket
        var frames = FrameDecoder(maximumFrameByteCount: 1 << 20)
        var decoder = MessageDecoder()

        mutating func next() throws -> ClientFrame {
            while true {
                if let body = try frames.nextBody() { return try decoder.decodeClientFrame(body) }
                let bytes = try socket.receiveSome(atMost: 1 << 16)
                guard !bytes.isEmpty else { throw Unexpected("The client has left.") }
                frames.append(bytes)
            }
        }

        func answer(_ frame: ServerFrame) throws { try socket.send(frame.encoded()) }

        mutating func greet() throws {
            let hello = try next()
            let greeting = HelloResponse(
                serverName: "silent",
                instanceID: 1,
                serverTimeMilliseconds: 0,
                limits: nil
            )
            try answer(ServerFrame(id: hello.id, revision: 1, response: .hello(greeting)))
        }
    }

    /// The frame of a call says what is left of its time.
    @Test func theConnectionIsAPartOfTheCall() async throws {
        let (nobody, service) = (try ReservedPort(), try ReservedPort())
        defer { withExtendedLifetime(nobody) {} }
        try service.listen()
        let target = "\(nobody.address),\(service.address)"
        let program = try RunningProcess(
            Programs.feedCtl,
            ["get", "7", "--target", target, "--timeout", "300"]
        )
        let left = try await offload {
            var peer = Peer(socket: try service.accept())
            let silenceEnd = ContinuousClock.now + .milliseconds(100)
            while ContinuousClock.now < silenceEnd {}
            try peer.greet()
            let call = try peer.next()
            let post = Response.post(Post(id: 7, title: "Apple"))
            try peer.answer(ServerFrame(id: call.id, revision: 1, response: post))
            return call.timeoutMilliseconds
        }
        let (status, output) = await program.finish()
        #expect(status == 0, "\(output)")
        #expect(left <= 299_900)
    }

    /// The error names the time that the last one had.
    @Test func theServicesOfAClusterShareTheTime() async throws {
        let ports = [try ReservedPort(), try ReservedPort()]
        for port in ports { try port.listen() }
        defer { withExtendedLifetime(ports) {} }
        let target = ports.map(\.address).joined(separator: ",")
        let command = ["cluster", "status", "--target", target, "--timeout", "0.8"]
        let (status, output) = try await FeedCtlTests.run(command)
        #expect(status == 1)
        #expect(output.contains("within") && !output.contains("within 0.8 seconds"), "\(output)")
    }

    @Test func theNodesThatAreComparedShareTheTime() async throws {
        let service = try ReservedPort()
        try service.listen()
        let program = try RunningProcess(
            Programs.feedCtl,
            ["cluster", "verify", "--target", service.address, "--timeout", "300"]
        )
        let left = try await offload {
            // The node that names the members, and each of them.
            try ["a", "a", "b"].map { node in
                var peer = Peer(socket: try service.accept())
                try peer.greet()
                let call = try peer.next()
                let members = ["a", "b"].map {
                    MemberStatus(node: $0, name: $0, address: service.address)
                }
                let status = ClusterStatus(node: node, role: "leader", members: members)
                try peer.answer(
                    ServerFrame(id: call.id, revision: 1, response: .clusterStatus(status))
                )
                return call.timeoutMilliseconds
            }
        }
        program.signal(9)
        _ = await program.finish()
        #expect(left[1] <= 150_000, "\(left)")
    }
}
