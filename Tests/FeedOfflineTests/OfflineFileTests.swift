import FeedClient
import FeedOffline
import FeedProto
import FeedSQLite
import FeedTestSupport
import Foundation
import Testing

/// Files that are damaged, foreign or in use: never a crash, and never a loss without a word.
@Suite(.timeLimit(.minutes(10))) struct OfflineFileTests {
    private let folder: TemporaryDirectory
    private var path: String { folder.path + "/offline.db" }
    private var configuration: OfflineConfiguration {
        OfflineConfiguration(path: path, address: "127.0.0.1:1")
    }

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: ["a text of somebody's", String(repeating: "\0", count: 10_000)])
    func aForeignFileIsMovedAside(contents: String) async throws {
        try Data(contents.utf8).write(to: URL(filePath: path))
        let feed = try await OfflineFeed.open(configuration)
        guard case .outboxLost(let movedTo, _) = feed.notice
        else { throw Unexpected("no notice: \(String(describing: feed.notice))") }
        #expect(FileManager.default.contents(atPath: movedTo) == Data(contents.utf8))
        try await feed.vote(on: 1, .up)
        await feed.close()
        // The new one is good, and another damaged one does not replace the first.
        let again = try await OfflineFeed.open(configuration)
        #expect(again.notice == nil)
        #expect(try await again.outbox().count == 1)
        await again.close()
        try Data("other".utf8).write(to: URL(filePath: path))
        let third = try await OfflineFeed.open(configuration)
        #expect(third.notice != nil)
        #expect(FileManager.default.contents(atPath: movedTo) == Data(contents.utf8))
        await third.close()
    }

    @Test func onlyTheOwnerMayReadTheFileAndItsLog() async throws {
        let feed = try await OfflineFeed.open(configuration)
        try await feed.createPost(PostDraft(title: "mine"))
        for file in [path, path + "-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
        await feed.close()
    }

    @Test func aFlippedBitOfTheOutboxIsNoticed() async throws {
        let feed = try await OfflineFeed.open(configuration)
        let title = "a title to be found in the file"
        try await feed.createPost(PostDraft(title: title))
        await feed.close()
        var bytes = try Data(contentsOf: URL(filePath: path))
        // The first copy may be of the post that lists show; all are changed.
        var found = 0
        while let place = bytes.range(of: Data(title.utf8)) {
            bytes[place.lowerBound] ^= 2
            found += 1
        }
        #expect(found > 0)
        try bytes.write(to: URL(filePath: path))
        let again = try await OfflineFeed.open(configuration)
        #expect(again.notice != nil)
        #expect(try await again.outbox().isEmpty)
        await again.close()
    }

    @Test(
        "each value of an entry is covered by its checksum",
        arguments: [
            "state = 2", "sequence = 1", "instance = 1", "doubt = 1", "request = x'00'",
            "failure = x'00'", "user = 1",
        ]
    )
    func anEntryThatIsNotAsItWasWrittenIsNoticed(change: String) async throws {
        let feed = try await OfflineFeed.open(configuration)
        try await feed.vote(on: 1, .up)
        await feed.close()
        try Database(path: path).execute("UPDATE outbox SET \(change)")
        let again = try await OfflineFeed.open(configuration)
        guard case .outboxLost(_, let reason) = again.notice
        else { throw Unexpected("no notice: \(String(describing: again.notice))") }
        #expect(reason == "Entry 1 of the outbox is not as it was written.")
        #expect(try await again.outbox().isEmpty)
        await again.close()
    }

    @Test(arguments: ["user_version = 5", "user_version = 0", "application_id = 7"])
    func aFileOfAnotherFormatOrProgramIsMovedAside(mark: String) async throws {
        let feed = try await OfflineFeed.open(configuration)
        try await feed.vote(on: 1, .up)
        await feed.close()
        try Database(path: path).execute("PRAGMA \(mark)")
        let again = try await OfflineFeed.open(configuration)
        #expect(again.notice != nil)
        #expect(try await again.outbox().isEmpty)
        await again.close()
    }

    @Test(arguments: TestEnvironment.seeds(1...30))
    func anyDamageEndsInAnErrorOrANotice(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let feed = try await OfflineFeed.open(configuration)
        for number in 0..<50 { try await feed.createPost(PostDraft(title: "post \(number)")) }
        await feed.close()
        var bytes = try Data(contentsOf: URL(filePath: path))
        if random.oneIn(3) {
            bytes = bytes.prefix(Int.random(in: 1..<bytes.count, using: &random))
        } else {
            for _ in 0..<Int.random(in: 1...200, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            }
        }
        try bytes.write(to: URL(filePath: path))
        let damaged = try await OfflineFeed.open(configuration)
        for order in [Order.top, .new, .hot] {
            do throws(OfflineError) {
                _ = try await damaged.posts(PostList(order: order), limit: 100)
                _ = try await damaged.outbox()
            } catch {
                switch error {
                case .damaged, .damagedPosts: continue
                default: Issue.record("seed \(seed): \(error)")
                }
            }
        }
        // What follows works: the file is good, or it was begun anew.
        _ = try? await damaged.vote(on: 1, .up)
        try await damaged.vote(on: 1, .up)
        await damaged.close()
    }

    @Test func aFileHasOneOwner() async throws {
        let feed = try await OfflineFeed.open(configuration)
        await #expect(throws: OfflineError.inUse(path: path)) {
            _ = try await OfflineFeed.open(configuration)
        }
        await feed.close()
        await #expect(throws: OfflineError.closed) { try await feed.posts() }
        var other = configuration
        other.client.clientID = ClientID()
        await #expect(throws: OfflineError.otherClient(path: path)) {
            _ = try await OfflineFeed.open(other)
        }
    }
}

/// Damage that is found in an open file: the outbox outlives posts that cannot be read, and a sync ends with
/// the file and the copy that it began with.
@Suite(.timeLimit(.minutes(10))) struct OfflineDamageTests {
    /// A service with two posts, and a file with a copy of them, which is closed.
    private static func run(_ body: (TestService, [PostID]) async throws -> Void) async throws {
        try await TestService.run { service in
            let ids = try await service.withClient { client async throws in
                [
                    try await client.createPost(PostDraft(title: "one")).id,
                    try await client.createPost(PostDraft(title: "two")).id,
                ]
            }
            try await service.withFeed { try await $0.sync() }
            try await body(service, ids)
        }
    }

    /// Writes something that is no post in the place of a post's bytes.
    private static func damagePost(_ title: String, of service: TestService) throws {
        try Database(path: service.path("offline.db")).execute(
            """
            UPDATE posts SET shown = x'00', base = iif(base IS NULL, NULL, x'00')
            WHERE title = '\(title)'
            """
        )
    }

    /// Lets a sync begin, and pauses the service before the outbox leaves.
    ///
    /// - Returns: The sync, whose next call waits until the service goes on.
    private static func paused(
        _ service: TestService
    ) async throws -> (feed: OfflineFeed, sync: Task<SyncReport, any Error>) {
        let process = try #require(service.process)
        let (pauses, pause) = AsyncStream<Void>.makeStream()
        let hook = HookedOutbox.Hook {
            process.signal(SIGSTOP)
            pause.yield()
        }
        let feed = try await OfflineFeed.open(service.configuration()) {
            HookedOutbox(file: $0, hook: hook)
        }
        let sync = Task { try await feed.sync() }
        for await _ in pauses { break }
        return (feed, sync)
    }

    @Test func postsThatCannotBeReadAreFetchedAgainAndTheOutboxStays() async throws {
        try await Self.run { service, ids in
            let made = try await service.withFeed { feed async throws in
                try await feed.vote(on: ids[0], .up)
                try await feed.vote(on: ids[1], .down)
                return try await feed.createPost(PostDraft(title: "made here")).localPostID
            }
            for title in ["one", "made here"] { try Self.damagePost(title, of: service) }
            await service.end(signal: 9)
            try await service.withFeed { feed async throws in
                #expect(feed.notice == nil)
                var reader = feed.changes.makeAsyncIterator()
                let list = PostList(order: .new)
                await #expect(throws: OfflineError.damagedPosts) { try await feed.posts(list) }
                let change = try #require(await reader.next())
                #expect(change.notice == .postsDropped)
                #expect(change.isEverything)
                #expect(!change.hasOutboxChanged)
                // What can be read stays, and so does what was made here.
                #expect(try await feed.posts(list).posts.map(\.title) == ["made here", "two"])
                #expect(try await feed.posts(list).posts.map(\.score) == [0, -1])
                #expect(try await feed.post(made)?.title == "made here")
                #expect(try await feed.outbox().count == 3)

                try await service.start()
                let report = try await feed.sync()
                #expect(report.sentCount == 3)
                #expect(report.changedPostCount == 3)
                #expect(try await feed.outbox().isEmpty)
                #expect(try await feed.post(ids[0])?.score == 1)
            }
            try await service.withClient { client async throws in
                let posts = try await client.listPosts(PostList(order: .old)).posts
                #expect(posts.map(\.title) == ["one", "two", "made here"])
                #expect(posts.map(\.score) == [1, -1, 0])
            }
        }
    }

    @Test func anAnswerAboutAPostThatCannotBeReadIsAskedForAgain() async throws {
        try await Self.run { service, ids in
            try await service.withFeed { try await $0.vote(on: ids[0], .up) }
            try Self.damagePost("one", of: service)
            try await service.withFeed { feed async throws in
                await #expect(throws: OfflineError.damagedPosts) { try await feed.sync() }
                #expect(try await feed.outbox().map(\.state) == [.sent])
                #expect(try await feed.sync().sentCount == 1)
                #expect(try await feed.post(ids[0])?.score == 1)
            }
            #expect(try await service.withClient { try await $0.getPost(ids[0]).score } == 1)
        }
    }

    @Test func anOldFileWhosePostsCannotBeReadKeepsItsOutbox() async throws {
        try await Self.run { service, ids in
            try await service.withFeed { try await $0.vote(on: ids[0], .up) }
            try Self.damagePost("one", of: service)
            try Database(path: service.path("offline.db")).execute(
                "ALTER TABLE identity DROP COLUMN shown_user; PRAGMA user_version = 2"
            )
            try await service.withFeed { feed async throws in
                #expect(feed.notice == .postsDropped)
                #expect(try await feed.post(ids[0]) == nil)
                #expect(try await feed.outbox().count == 1)
                #expect(try await feed.sync().sentCount == 1)
                #expect(try await feed.post(ids[0])?.score == 1)
            }
        }
    }

    @Test func aSyncEndsWithTheCopyThatItBeganWith() async throws {
        try await Self.run { service, ids in
            try Self.damagePost("one", of: service)
            let (feed, sync) = try await Self.paused(service)
            // The sync has asked for what is newer than the old copy.
            await #expect(throws: OfflineError.damagedPosts) { try await feed.posts() }
            service.process?.signal(SIGCONT)
            await #expect(throws: OfflineError.damagedPosts) { try await sync.value }
            #expect(try await feed.post(ids[0]) == nil)
            #expect(try await feed.sync().changedPostCount == 2)
            #expect(try await feed.post(ids[0])?.title == "one")
            await feed.close()
        }
    }

    @Test func aSyncEndsWithTheFileThatItBeganWith() async throws {
        try await Self.run { service, ids in
            try await service.withFeed { try await $0.vote(on: ids[0], .up) }
            try Self.wipePages(with: "two", in: service.path("offline.db"))
            let (feed, sync) = try await Self.paused(service)
            // The vote has left, and the file is begun anew before its answer is here.
            await #expect(throws: OfflineError.self) { try await feed.posts() }
            let entry = try await feed.createPost(PostDraft(title: "of the new file"))
            #expect(entry.number == 1)
            service.process?.signal(SIGCONT)
            await #expect {
                try await sync.value
            } throws: { error in
                if case OfflineError.damaged = error { true } else { false }
            }
            #expect(try await feed.outbox() == [entry])
            #expect(try await feed.sync().sentCount == 1)
            await feed.close()
            let posts = try await service.withClient { client async throws in
                try await client.listPosts(PostList(order: .old)).posts
            }
            #expect(posts.map(\.title) == ["one", "two", "of the new file"])
        }
    }

    private static func wipePages(with text: String, in path: String) throws {
        let pageByteCount = 4_096
        var bytes = try Data(contentsOf: URL(filePath: path))
        var wipedCount = 0
        while let place = bytes.range(of: Data(text.utf8)) {
            let start = place.lowerBound / pageByteCount * pageByteCount
            bytes.replaceSubrange(
                start..<start + pageByteCount,
                with: repeatElement(0xFF, count: pageByteCount)
            )
            wipedCount += 1
        }
        #expect(wipedCount > 0)
        try bytes.write(to: URL(filePath: path))
    }
}
