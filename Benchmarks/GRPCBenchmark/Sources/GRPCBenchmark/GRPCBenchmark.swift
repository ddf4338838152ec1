import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Glibc
import Synchronization

/// The votes of ClientBenchmark by grpc-swift 2: the same requests, tasks and connections.
///
///     swift build -c release --package-path Benchmarks/GRPCBenchmark
///     Benchmarks/GRPCBenchmark/.build/release/GRPCBenchmark serve
///     Benchmarks/GRPCBenchmark/.build/release/GRPCBenchmark PORT [TASKS [CONNECTIONS [SECONDS]]]
///
/// It prints one row without a head: the tasks, the connections, `no` for the sequences, the votes a
/// second, and the CPU-seconds of the client per million votes. That is a row of ClientBenchmark without
/// the threads. `serve` prints its address.
@main
struct GRPCBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "serve" { return try await VoteServer().run() }
        let numbers = arguments.compactMap { Int($0) }
        guard let port = numbers.first else { return print("usage: GRPCBenchmark serve|PORT …") }
        let load = Load(
            taskCount: numbers.count > 1 ? numbers[1] : 500,
            connectionCount: numbers.count > 2 ? numbers[2] : 4,
            seconds: numbers.count > 3 ? numbers[3] : 3
        )
        print(try await load.run(port: port))
    }
}

/// The call, as `proto/feed.proto` would have it as a service.
let castVote = MethodDescriptor(fullyQualifiedService: "feed.Feed", method: "CastVote")

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
        return try await withThrowingDiscardingTaskGroup { group in
            for client in clients { group.addTask { try await client.runConnections() } }
            let result = try await measure(clients, votes)
            for client in clients { client.beginGracefulShutdown() }
            return result
        }
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
                        guard counts[0] == post + 1, counts[2] > 0 else {
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
    ) async throws -> Fields {
        try await client.unary(
            request: ClientRequest(message: [post, 1]),
            descriptor: castVote,
            serializer: Coding(),
            deserializer: Coding(),
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

/// A server whose votes change an array: no service on gRPC does less.
final class VoteServer: Sendable {
    private let scores = Mutex([UInt64](repeating: 0, count: Load.postCount))

    /// Serves until the process ends; prints its address first.
    func run() async throws {
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0),
            transportSecurity: .plaintext
        )
        var router = RPCRouter<HTTP2ServerTransport.Posix>()
        router.registerHandler(
            forMethod: castVote,
            deserializer: Coding(),
            serializer: Coding()
        ) { request, _ in
            let vote = try await ServerRequest(stream: request).message
            return StreamingServerResponse(single: ServerResponse(message: try self.cast(vote)))
        }
        let server = GRPCServer(transport: transport, router: router)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await server.serve() }
            let address = try await transport.listeningAddress
            print("listening on 127.0.0.1:\(address.ipv4?.port ?? 0)")
            fflush(nil)
        }
    }

    private func cast(_ vote: Fields) throws -> Fields {
        let (post, direction) = (vote[0], vote[1])
        guard (1...UInt64(Load.postCount)).contains(post), direction == 1 else {
            throw RPCError(code: .notFound, message: "There is no post \(post).")
        }
        let count = scores.withLock { scores in
            scores[Int(post) - 1] += 1
            return scores[Int(post) - 1]
        }
        return [post, count, count]
    }
}

/// A message whose fields 1, 2 and so on are varints.
///
/// A vote is `[post, direction]`, and its answer `[post, score, upvotes]`; all votes are up.
typealias Fields = [UInt64]

/// The bytes of protobuf by hand: less work than generated code does, so it flatters gRPC.
struct Coding: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: Fields) -> Bytes {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        for (place, value) in message.enumerated() where value != 0 {
            bytes.append(UInt8(place + 1) << 3)
            var rest = value
            while rest > 0x7f {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        return Bytes(bytes)
    }

    /// Gives four fields; those that are absent are 0.
    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Fields {
        var fields: Fields = [0, 0, 0, 0]
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while let tag = rest.popFirst() {
                let place = Int(tag >> 3) - 1
                guard tag & 7 == 0, fields.indices.contains(place) else {
                    throw RPCError(code: .internalError, message: "A field is unknown.")
                }
                var (value, shift) = (UInt64(0), UInt64(0))
                while let byte = rest.popFirst() {
                    value |= UInt64(byte & 0x7f) << shift
                    shift += 7
                    if byte < 0x80 { break }
                }
                fields[place] = value
            }
        }
        return fields
    }
}
