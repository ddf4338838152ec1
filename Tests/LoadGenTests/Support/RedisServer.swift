import FeedTestSupport
import Foundation

/// A redis-server of a test on a port of its own, without persistence.
final class RedisServer: Sendable {
    /// What a test says that is skipped for want of redis-server.
    static let absence =
        "redis-server is not installed; scripts/install-dependencies.sh --compare installs it"

    /// Whether redis-server is installed.
    static var isAvailable: Bool { program != nil }

    private static let program = Programs.command("redis-server")

    let target: String
    let process: RunningProcess

    /// Starts a server and waits until it takes connections.
    init() async throws {
        guard let program = Self.program else { throw Absence() }
        let port = try ReservedPort()
        target = "127.0.0.1:\(port.number)"
        process = try RunningProcess(
            program,
            ["--port", "\(port.number)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        )
        guard await process.prints("Ready to accept connections") else { throw Absence() }
    }

    /// Stops the server and waits for its end.
    func stop() async {
        process.signal(SIGTERM)
        _ = await process.exitStatus()
    }

    private struct Absence: Error {}
}
