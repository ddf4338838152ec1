import FeedTestSupport
import Foundation
import Testing

/// The commands of a person where no service can be reached.
@Suite(.timeLimit(.minutes(10)))
struct FeedCtlOfflineTests {
    @Test func aPersonReadsVotesAndPostsOfflineAndSyncsLater() async throws {
        let service = try await ServiceProcess.start(["--sample-data"])
        let folder = try TemporaryDirectory()
        let ann = FeedCtlPersonTests.Person(port: service.port, folder: folder)
        let synced = try await ann.feedctl("sync")
        #expect(synced.contains("Outbox: 0 sent, 0 waiting."))
        #expect(synced.contains("New copy: 20 posts changed, 0 removed."))

        // A port where nothing listens.
        let port = try ReservedPort()
        let away = FeedCtlPersonTests.Person(port: port.number, folder: folder)
        #expect(try await away.feedctl("feed", "--offline").contains("20 of 20 posts."))
        let (status, refusal) = try await away.run(["up", "2"])
        #expect(status == 1)
        #expect(refusal.contains("--queue keeps the change for feedctl sync"))
        let queued = try await away.feedctl("up", "2", "--queue")
        #expect(
            queued == "No service can be reached: the change waits as entry 1 for feedctl sync."
        )
        _ = try await away.feedctl("post", "Queued", "--queue")
        let (long, _) = try await away.run([
            "post", String(repeating: "x", count: 300), "--queue",
        ])
        #expect(long == 0)
        #expect(try await away.feedctl("feed", "--offline", "--order", "new").contains("Queued"))
        #expect(try await away.feedctl("outbox").contains("vote up on 2"))
        #expect(try await away.run(["sync"]).0 == 1)

        let (refused, sent) = try await ann.run(["sync"])
        #expect(refused == 3)
        #expect(sent.contains("Outbox: 2 sent, 0 waiting, 1 refused (feedctl outbox)."))
        #expect(try await ann.feedctl("outbox").contains("TITLE_TOO_LONG"))
        #expect(try await ann.feedctl("outbox", "--drop", "3") == "The outbox is empty.")
        #expect(try await ann.feedctl("feed", "posts", "--order", "new").contains("Queued"))
        // A service that is reached takes the change at once.
        #expect(try await ann.feedctl("up", "2", "--queue").hasPrefix("Post 2: score "))
        #expect(try await ann.feedctl("outbox") == "The outbox is empty.")
        #expect(await service.stop() == 0)
    }

    @Test func aQueuedChangeIsSentAsTheAccountThatMadeIt() async throws {
        let service = try await ServiceProcess.start()
        let folder = try TemporaryDirectory()
        let near = FeedCtlPersonTests.Person(port: service.port, folder: folder)
        let port = try ReservedPort()
        let away = FeedCtlPersonTests.Person(port: port.number, folder: folder)
        let signedUp = try await near.feedctl("signup", "ann@example.org", input: "secret1\n")
        #expect(signedUp == "Signed in as ann, account 1.")
        _ = try await away.feedctl("post", "Apples", "--queue")
        _ = try await near.feedctl("signup", "bob@example.org", input: "secret2\n")
        let kept = try await near.feedctl("sync")
        #expect(
            kept.contains("0 sent, 1 waiting, 1 of them for another account (feedctl outbox).")
        )
        let outbox = try await near.feedctl("outbox")
        #expect(outbox.contains("It is sent once account 1 signs in."), "\(outbox)")
        _ = try await near.feedctl("login", "ann@example.org", input: "secret1\n")
        #expect(try await near.feedctl("sync").contains("Outbox: 1 sent, 0 waiting.\n"))
        #expect(try await near.feedctl("read", "1").contains("author    ann (user 1)"))
        #expect(await service.stop() == 0)
    }
}
