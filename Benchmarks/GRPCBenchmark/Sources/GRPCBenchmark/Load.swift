import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Glibc
import Synchronization

/// Tasks that vote without a pause, as those of ClientBenchmark do.
struct Load {
    static let postCount = 1_000

    let taskCount: Int
    let connectionCount: Int
    let seconds: Int

    /// Votes for half a second and then for the seconds that count; returns a row.
    func run(port: Int) async throws -> String {
        let clients = try (0..<connectionCount).map { _ in
            GRPCClient(
                transport: try HTTP2ClientTransport.Posix(
                    target: .ipv4(address: "127.0.0.1", port: port),
                    transportSecurity: .plaintext
                )
            )
        }
        let votes = Tally()
        let result = try await withThrowingDiscardingTaskGroup { group in
            for client in clients { group.addTask { try await client.runConnections() } }
            let result = try await measure(clients, votes)
            for client in clients { client.beginGracefulShutdown() }
            return result
        }
        return result
    }

    private func measure(
        _ clients: [GRPCClient<HTTP2ClientTransport.Posix>],
        _ votes: Tally
    ) async throws -> String {
        try await withThrowingDiscardingTaskGroup { group in
            for task in 0..<taskCount {
                let client = clients[task % clients.count]
                group.addTask {
                    var post = UInt64(task) * 7
                    while !votes.isOver.load(ordering: .relaxed) {
                        post = (post + 1) % UInt64(Self.postCount)
                        let counts = try await vote(on: post + 1, client)
                        guard counts.postID == post + 1, counts.upvoteCount > 0 else {
                            throw RPCError(code: .internalError, message: "The answer is wrong.")
                        }
                        votes.count.wrappingAdd(1, ordering: .relaxed)
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(500))
            let clock = ContinuousClock()
            let (start, votesBefore, cpuBefore) = (clock.now, votes.now, cpuSeconds)
            try await Task.sleep(for: .seconds(seconds))
            let (time, cpu) = (clock.now - start, cpuSeconds - cpuBefore)
            let count = Double(votes.now - votesBefore)
            votes.isOver.store(true, ordering: .relaxed)
            let rate = Int(count / (time / .seconds(1)))
            let cost = (cpu / count * 1e9).rounded() / 1_000
            return "\(taskCount) \(connectionCount) no \(rate) \(cost)"
        }
    }

    private func vote(
        on post: UInt64,
        _ client: GRPCClient<HTTP2ClientTransport.Posix>
    ) async throws -> VoteResponse {
        try await client.unary(
            request: ClientRequest(message: VoteRequest(postID: post, direction: 1)),
            descriptor: castVote,
            serializer: Coding<VoteRequest>(),
            deserializer: Coding<VoteResponse>(),
            options: .defaults
        ) { try $0.message }
    }

    /// Seconds of processor time of the process.
    private var cpuSeconds: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}

/// The votes of all tasks.
private final class Tally: Sendable {
    let count = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)

    var now: Int { count.load(ordering: .relaxed) }
}
