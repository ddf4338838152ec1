import FeedTestSupport
import Testing

/// The service as a process of its own, on a free port.
struct ServiceProcess {
    let process: RunningProcess
    let port: UInt16

    /// Starts the service and waits for its start line.
    static func start(_ arguments: [String] = []) async throws -> ServiceProcess {
        let process = try RunningProcess(
            Programs.feedService,
            ["--listen", "127.0.0.1:0"] + (arguments.contains("--data-dir") ? [] : ["--in-memory"])
                + arguments
        )
        let line = try #require(
            await process.line { $0.contains("listening on") },
            "the service ended without a start line: \(process.output)"
        )
        let address = try #require(line.firstMatch(of: /listening on 127\.0\.0\.1:(\d+)/))
        return ServiceProcess(process: process, port: try #require(UInt16(address.1)))
    }

    /// Asks the service to stop and waits for its exit status.
    func stop() async -> Int32 {
        process.signal(15)
        return await process.exitStatus()
    }
}
