import FeedClient
import FeedProto
import FeedTestSupport
import Observation
import Testing

/// The durable service as an app sees it: one address, behind which the process may end and begin anew.
final class AppService {
    private let directory: TemporaryDirectory
    private let port: ReservedPort
    private let flags: [String]
    private var process: RunningProcess?

    var address: String { port.address }

    nonisolated(nonsending) private init(_ flags: [String]) async throws {
        directory = try TemporaryDirectory()
        port = try ReservedPort()
        self.flags = flags
        try await start()
    }

    nonisolated(nonsending) func start() async throws {
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

    nonisolated(nonsending) func kill() async { await end(signal: 9) }

    nonisolated(nonsending) func stop() async { await end(signal: 15) }

    nonisolated(nonsending) func launch(
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws -> FeedClient {
        var configuration = ClientConfiguration.patient
        configure(&configuration)
        return try await FeedClient.connect(to: port.address, configuration: configuration)
    }

    /// Runs the body on a service with a new data directory, and ends the service.
    nonisolated(nonsending) static func run(
        _ flags: String...,
        body: nonisolated(nonsending) (AppService) async throws -> Void
    ) async throws {
        let service = try await AppService(flags)
        do {
            try await body(service)
        } catch {
            await service.stop()
            throw error
        }
        await service.stop()
    }

    nonisolated(nonsending) private func end(signal: Int32) async {
        guard let process else { return }
        self.process = nil
        process.signal(signal)
        _ = await process.exitStatus()
    }
}

extension ClientConfiguration {
    /// A password is hashed at nice 19, which other tests leave little time for.
    static var patient: Self {
        var configuration = Self()
        configuration.timeout = .seconds(120)
        configuration.connectTimeout = .seconds(30)
        return configuration
    }
}

/// Waits until a data side shows something, as a screen does; throws if the task is cancelled, as that of a
/// test which has lasted too long.
@MainActor func shown(_ condition: () -> Bool) async throws {
    let (changes, change) = AsyncStream.makeStream(of: Void.self)
    var iterator = changes.makeAsyncIterator()
    while !withObservationTracking(condition, onChange: { change.yield() }) {
        guard await iterator.next() != nil else { throw CancellationError() }
    }
}

/// Runs the task of a screen beside the body.
@MainActor func onScreen(
    _ follow: @escaping @MainActor () async -> Void,
    _ body: () async throws -> Void
) async throws {
    let screen = Task { await follow() }
    defer { screen.cancel() }
    try await body()
}

/// Expects that a call is refused for a reason and has not been executed; gives the refusal.
@discardableResult
nonisolated(nonsending) func expectRefusal<Value>(
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
