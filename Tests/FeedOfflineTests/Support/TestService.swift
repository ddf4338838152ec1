import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// A durable service process at one address, which may end, begin again or lose its state, and a folder for
/// the files of offline feeds.
final class TestService {
    let folder: TemporaryDirectory
    let address: String
    private let port: ReservedPort
    /// The service's process while it runs.
    private(set) var process: RunningProcess?
    private var stateNumber = 1

    init(_ flags: String...) async throws {
        folder = try TemporaryDirectory()
        port = try ReservedPort()
        address = port.address
        try await start()
    }

    func start() async throws {
        let process = try RunningProcess(
            Programs.feedService,
            ["--listen", address, "--data-dir", "\(folder.path)/state-\(stateNumber)"]
        )
        _ = try #require(
            await process.line { $0.contains("listening on") },
            "the service ended without a start line: \(process.output)"
        )
        self.process = process
    }

    func end(signal: Int32 = 15) async {
        guard let process else { return }
        self.process = nil
        process.signal(signal)
        _ = await process.exitStatus()
    }

    /// Lets the next start be of a fresh state, another instance.
    func loseState() { stateNumber += 1 }

    func connect(
        _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws -> FeedClient {
        var configuration = ClientConfiguration()
        configuration.timeout = .seconds(30)
        configuration.connectTimeout = .seconds(30)
        change(&configuration)
        return try await FeedClient.connect(to: address, configuration: configuration)
    }

    func configuration(_ name: String = "offline.db") -> OfflineConfiguration {
        var configuration = OfflineConfiguration(path: path(name), address: address)
        configuration.client.timeout = .seconds(30)
        configuration.client.connectTimeout = .seconds(30)
        return configuration
    }

    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    /// Runs the body with a client, and closes it.
    @discardableResult
    func withClient<Value>(
        _ change: (inout ClientConfiguration) -> Void = { _ in },
        _ body: (FeedClient) async throws -> Value
    ) async throws -> Value {
        let client = try await connect(change)
        do {
            let value = try await body(client)
            await client.close()
            return value
        } catch {
            await client.close()
            throw error
        }
    }

    static func run(_ body: (TestService) async throws -> Void) async throws {
        let service = try await TestService()
        do {
            try await body(service)
        } catch {
            await service.end(signal: 9)
            throw error
        }
        await service.end(signal: 9)
    }

    /// Opens an offline feed for the body, and closes it.
    @discardableResult
    func withFeed<Value>(
        _ name: String = "offline.db",
        _ change: (inout OfflineConfiguration) -> Void = { _ in },
        _ body: (OfflineFeed) async throws -> Value
    ) async throws -> Value {
        var configuration = configuration(name)
        change(&configuration)
        let feed = try await OfflineFeed.open(configuration)
        do {
            let value = try await body(feed)
            await feed.close()
            return value
        } catch {
            await feed.close()
            throw error
        }
    }
}

extension OfflineFeed {
    func allPosts(_ list: PostList, limit: Int) async throws -> [Post] {
        var posts: [Post] = []
        var start = OfflineStart.first
        while true {
            let page = try self.posts(list, from: start, limit: limit)
            posts += page.posts
            guard page.hasMore, let last = page.last else { return posts }
            start = .after(last)
        }
    }

    func titled(_ title: String) throws -> Post? {
        try posts(PostList(order: .new), limit: 100).posts.first { $0.title == title }
    }
}

/// A connection of a sync whose answers a function makes.
struct StubConnection: NumberedCalling {
    let service: HelloResponse?
    let respond: @Sendable (Request) throws(FeedClientError) -> Answer

    func answer(
        to request: Request,
        minimumRevision: UInt64,
        timeout: Duration?
    ) async throws(FeedClientError) -> Answer {
        try respond(request)
    }

    func make(
        _ changes: [NumberedChange],
        timeout: Duration?
    ) async -> [Result<Answer, FeedClientError>] {
        changes.map { change in
            Result { () throws(FeedClientError) in try respond(change.request) }
        }
    }

    func acting(for userID: UserID) -> StubConnection { self }
    func close() async {}
}
