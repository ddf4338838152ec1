import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import Testing

/// Accounts and sessions of a service with a data directory.
@Suite(.timeLimit(.minutes(1)))
struct AccountRestartTests {
    /// Sessions of Ann, who stays, and of Bob, who signs out.
    struct Sessions {
        var ann: UserSession
        var bob: UserSession
    }

    @Test func accountsSessionsAndTheirEndsOutliveTheService() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        let sessions = Locked<Sessions?>(nil)
        try await withAccounts {
            $0.state = StateOptions(path: path, logCount: 1)
        } _: { port in
            let ann = try WireClient(port: port).signUp("ann@x", name: "Ann").session
            let client = try WireClient(port: port)
            let bob = try client.signUp("bob@x", name: "Bob").session
            #expect(try client.refusal(.signOut(SignOutRequest())) == nil)
            sessions.withLock { $0 = Sessions(ann: ann, bob: bob) }
        }
        let known = try #require(sessions.withLock { $0 })
        let (ann, bob) = (known.ann, known.bob)
        try await withAccounts {
            $0.state = StateOptions(path: path, logCount: 1)
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.hello(token: ann.token).status == nil)
            #expect(try client.call(.getSession).session.user == ann.user)
            let other = try WireClient(port: port)
            #expect(try other.hello(token: bob.token).status?.reason == .sessionExpired)
            #expect(try other.signIn("bob@x").session.user == bob.user)
            #expect(try other.signUp("ann@x").status?.reason == .emailTaken)
            // Numbers of users continue.
            let third = try WireClient(port: port).signUp("eve@x").session.user
            #expect(third?.id == 3)
        }
    }
}
