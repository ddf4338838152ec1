import FeedClient
import FeedClientTesting
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// What an offline feed syncs with.
enum ServiceKind: String, CaseIterable, Sendable {
    case connected
    case inMemory
}

/// A service of either kind, a client of it, and offline feeds.
struct OutboxBench {
    let client: any FeedCalling
    private let configuration: OfflineConfiguration
    private let connect: OfflineFeed.Connect?

    static func run(_ kind: ServiceKind, _ body: (OutboxBench) async throws -> Void) async throws {
        switch kind {
        case .connected:
            try await TestService.run { service in
                try await service.withClient { client async throws in
                    try await body(OutboxBench(client, service.configuration(), nil))
                }
            }
        case .inMemory:
            let folder = try TemporaryDirectory()
            let memory = InMemoryFeedService()
            let configuration = OfflineConfiguration(path: folder.path + "/offline.db", address: "")
            try await body(
                OutboxBench(memory.connect(), configuration, memory.connect(_:))
            )
        }
    }

    private init(
        _ client: any FeedCalling,
        _ configuration: OfflineConfiguration,
        _ connect: OfflineFeed.Connect?
    ) {
        self.client = client
        self.configuration = configuration
        self.connect = connect
    }

    /// Opens an offline feed for the body, and closes it.
    func withFeed(_ body: (OfflineFeed) async throws -> Void) async throws {
        let feed =
            if let connect {
                try await OfflineFeed.open(configuration, connecting: connect)
            } else {
                try await OfflineFeed.open(configuration)
            }
        do {
            try await body(feed)
        } catch {
            await feed.close()
            throw error
        }
        await feed.close()
    }
}

/// The people who use the device, one after another.
struct Device {
    let service: TestService
    var sessions: FileSessionStore { FileSessionStore(path: service.path("session")) }

    /// Signs a person in, or up, and returns the account.
    @discardableResult
    func signIn(_ name: String) async throws -> UserID {
        try await withClient { client async throws in
            let session = try await client.signIn(
                email: "\(name)@example.org",
                password: "secret",
                createsIfMissing: true
            )
            return try #require(session.user).id
        }
    }

    func signOut() async throws { try await withClient { try await $0.signOut() } }

    func withClient<Value>(_ body: (FeedClient) async throws -> Value) async throws -> Value {
        try await service.withClient({ $0.sessionStore = sessions }, body)
    }

    @discardableResult
    func withFeed<Value>(_ body: (OfflineFeed) async throws -> Value) async throws -> Value {
        try await service.withFeed {
            $0.client.sessionStore = sessions
        } _: {
            try await body($0)
        }
    }

    func sync() async throws -> SyncReport { try await withFeed { try await $0.sync() } }

    /// The authors of all posts of the service by their titles.
    func authors() async throws -> [String: UserID] {
        var authors: [String: UserID] = [:]
        try await service.withClient { client async throws in
            for post in try await client.listPosts(PostList(order: .new)).posts {
                authors[post.title] = post.author?.id ?? 0
            }
        }
        return authors
    }

    static func run(_ body: (Device) async throws -> Void) async throws {
        try await TestService.run { try await body(Device(service: $0)) }
    }
}

/// An outbox that runs a function before it gives the first sequences of a sync.
struct HookedOutbox: OutboxFile {
    /// A function that runs once, however often an outbox is made.
    final class Hook: Sendable {
        private let body: Locked<(@Sendable () -> Void)?>

        init(_ body: @escaping @Sendable () -> Void) { self.body = Locked(body) }

        func run() {
            let body = body.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
        }
    }

    let file: any OutboxFile
    let hook: Hook

    func numberNext(of userID: UserID) throws(OfflineError) -> [NumberedEntry] {
        hook.run()
        return try file.numberNext(of: userID)
    }

    func settle(_ outcomes: [(number: UInt64, outcome: OutboxOutcome)]) throws(OfflineError) {
        try file.settle(outcomes)
    }
}
