import FeedClient
import FeedOffline
import FeedProto
import FeedSQLite
import FeedTestSupport
import Foundation
import Testing

/// Files that are damaged, foreign or in use: never a crash, and never a loss without a word.
@Suite(.timeLimit(.minutes(10)))
struct OfflineFileTests {
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
        guard case .outboxLost(let movedTo, _) = feed.notice else {
            Issue.record("no notice: \(String(describing: feed.notice))")
            return
        }
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
        try await feed.createPost(Post(title: "mine"))
        for file in [path, path + "-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
        await feed.close()
    }

    @Test func aFlippedBitOfTheOutboxIsNoticed() async throws {
        let feed = try await OfflineFeed.open(configuration)
        let title = "a title to be found in the file"
        try await feed.createPost(Post(title: title))
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
        guard case .outboxLost(_, let reason) = again.notice else {
            Issue.record("no notice: \(String(describing: again.notice))")
            return
        }
        #expect(reason == "Entry 1 of the outbox is not as it was written.")
        #expect(try await again.outbox().isEmpty)
        await again.close()
    }

    @Test(arguments: ["user_version = 4", "user_version = 0", "application_id = 7"])
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
        for number in 0..<50 { try await feed.createPost(Post(title: "post \(number)")) }
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
