import FeedClient
import FeedOffline
import FeedProto
import Testing

/// The people who use the device, one after another.
struct Device {
    let service: TestService
    var sessions: FileSessionStore { FileSessionStore(path: service.path("session")) }

    /// Signs a person in, or up, and returns the account.
    @discardableResult
    func signIn(_ name: String) async throws -> UInt64 {
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
    func authors() async throws -> [String: UInt64] {
        var authors: [String: UInt64] = [:]
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
