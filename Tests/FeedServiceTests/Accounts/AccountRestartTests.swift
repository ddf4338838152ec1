import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import Testing

/// Accounts and sessions of a service with a data directory.
@Suite(.timeLimit(.minutes(10)))
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

    @Test("T-AUTH-13: a restored service gives no number again that was given after the backup")
    func aRestoreGivesNoNumberAgain() async throws {
        let directory = try TemporaryDirectory()
        let data = "\(directory.path)/data"
        let restored = "\(directory.path)/restored"
        let known = Locked<(backup: String, revision: UInt64)>(("", 0))
        try await withAccounts {
            $0.state = StateOptions(path: data, logCount: 1)
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.signUp("ann@x").session.user?.id == 1)
            #expect(try client.createPost(title: "before") == 1)
            guard case .backup(let backup) = try client.call(.backup).response else {
                Issue.record("There is no backup.")
                return
            }
            #expect(try client.signUp("bob@x").session.user?.id == 2)
            #expect(try client.createPost(title: "after") == 2)
            known.withLock { $0 = (backup.name, backup.revision) }
        }
        let (backup, revision) = known.withLock { $0 }
        try BackupRestore.run(backup: "\(data)/backups/\(backup)", into: restored)
        try await withAccounts {
            $0.state = StateOptions(path: restored, logCount: 1)
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.createPost(title: "another") == (1 << 24) + 2)
            let answer = try client.call(.listFeeds)
            #expect(answer.revision > revision + (1 << 40))
        }
        // The numbers stay skipped in later runs, where the first one created no account.
        try await withAccounts {
            $0.state = StateOptions(path: restored, logCount: 1)
        } _: { port in
            let client = try WireClient(port: port)
            let id = try #require(try client.signUp("eve@x").session.user?.id)
            #expect(id > 1 << 32 && id <= 2 + (1 << 44))
            #expect(try client.signUp("joe@x").session.user?.id == id + 1)
            #expect(try client.signIn("ann@x").session.user?.id == 1)
            #expect(try client.signIn("bob@x").status?.reason == .badCredentials)
            #expect(try client.createPost(title: "next") == (1 << 24) + 3)
        }
    }
}
