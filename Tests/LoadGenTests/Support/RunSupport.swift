import FeedTestSupport
import LoadGen
import LoadGenCommand

/// The configuration that `arguments` ask for, on a machine with two cores.
func configure(_ arguments: [String]) throws -> RunConfiguration {
    try RunConfiguration(Options.reading(arguments), coreCount: 2, isTerminal: false)
}

/// Runs a load against `service` on a thread of its own.
func load(_ service: FakeService, _ arguments: [String]) async throws -> RunResult {
    let configuration = try configure(["--target", "\(service.address)"] + arguments)
    return try await offload { try Run(configuration).execute() }
}

/// A short load of votes that every machine finishes.
let shortLoad = ["-n", "5k", "-w", "0", "--clients", "8", "--posts", "50"]
