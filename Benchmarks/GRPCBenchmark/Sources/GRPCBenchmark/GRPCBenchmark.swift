import GRPCCore

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
