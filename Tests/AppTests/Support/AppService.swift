import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// The durable service as an app sees it: one address, behind which the process may end and begin anew.
final class AppService {
    private let directory: TemporaryDirectory
    private let port: ReservedPort
    private let flags: [String]
    private var process: RunningProcess?

    var address: String { port.address }

    private init(_ flags: [String]) async throws {
        directory = try TemporaryDirectory()
        port = try ReservedPort()
        self.flags = flags
        try await start()
    }

    func start() async throws {
        let process = try RunningProcess(
            Programs.feedService,
            ["--listen", port.address, "--data-dir", directory.path] + flags
        )
        _ = try #require(
            await process.line { $0.contains("listening on") },
            "the service ended without a start line: \(process.output)"
        )
        self.process = process
    }

    func kill() async { await end(signal: 9) }

    func stop() async { await end(signal: 15) }

    func launch(
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws -> FeedClient {
        var configuration = ClientConfiguration()
        // A password is hashed at nice 19, which other tests leave little time for.
        configuration.timeout = .seconds(120)
        configuration.connectTimeout = .seconds(30)
        configure(&configuration)
        return try await FeedClient.connect(to: port.address, configuration: configuration)
    }

    /// Runs the body on a service with a new data directory, and ends the service.
    static func run(_ flags: String..., body: (AppService) async throws -> Void) async throws {
        let service = try await AppService(flags)
        do {
            try await body(service)
        } catch {
            await service.stop()
            throw error
        }
        await service.stop()
    }

    private func end(signal: Int32) async {
        guard let process else { return }
        self.process = nil
        process.signal(signal)
        _ = await process.exitStatus()
    }
}

/// Expects that a call is refused for a reason and has not been executed; gives the refusal.
@discardableResult
func expectRefusal<Value>(
    _ reason: Reason,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ call: () async throws(FeedClientError) -> Value
) async -> Status? {
    do throws(FeedClientError) {
        _ = try await call()
        Issue.record("not refused", sourceLocation: sourceLocation)
    } catch {
        guard case .refused(let status) = error else {
            Issue.record("\(error)", sourceLocation: sourceLocation)
            return nil
        }
        #expect(status.reason == reason, "\(status)", sourceLocation: sourceLocation)
        #expect(status.isNotExecuted, sourceLocation: sourceLocation)
        return status
    }
    return nil
}
