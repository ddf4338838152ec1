import FeedTestSupport
import Foundation
import LoadGen
import LoadGenCommand

/// The configuration that `arguments` ask for, on a machine with two cores.
func configure(_ arguments: [String]) throws -> RunConfiguration {
    try RunConfiguration(Options.reading(arguments), coreCount: 2, isTerminal: false)
}

/// Runs a load against `service` on a thread of its own.
func load(_ service: FakeService, _ arguments: [String]) async throws -> RunReport {
    let configuration = try configure(["--target", "\(service.address)"] + arguments)
    return try await offload { try Run(configuration).execute() }
}

/// A short load of votes that every machine finishes.
let shortLoad = ["-n", "5k", "-w", "0", "--clients", "8", "--posts", "50"]

/// Runs `body` with the path of the JSON report of `result`.
func withReport<Value>(
    of result: RunReport,
    _ body: (String) async throws -> Value
) async throws -> Value {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".json")
    try result.json.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    return try await body(file.path())
}

/// Audits the record of a run again.
func verify(_ result: RunReport, _ service: FakeService) async throws -> RunReport {
    try await withReport(of: result) { path in
        let configuration = try configure([
            "--target", "\(service.address)", "--verify-only", path,
        ])
        return try await offload {
            let record = try RunRecord(readingReport: path)
            return try Run(configuration, verifying: record).execute()
        }
    }
}
