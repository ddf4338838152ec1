import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// What readers of changes are told.
@Suite(.timeLimit(.minutes(10)))
struct OfflineChangesTests {
    private let folder: TemporaryDirectory
    private let feed: OfflineFeed

    init() async throws {
        folder = try TemporaryDirectory()
        feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: "127.0.0.1:1")
        )
    }

    @Test func changesThatNobodyHasReadAreOne() async throws {
        var reader = feed.changes.makeAsyncIterator()
        let first = try await feed.createPost(Post(title: "first"))
        let second = try await feed.createPost(Post(title: "second"))
        try await feed.drop(first.number)
        let change = try #require(await reader.next())
        #expect(change.changedPosts == [second.localPostID])
        #expect(change.removedPosts == [first.localPostID])
        #expect(change.hasOutboxChanged)
        #expect(!change.isEverything)
        try await feed.vote(on: second.localPostID, .up)
        #expect(await reader.next()?.changedPosts == [second.localPostID])
        await feed.close()
        #expect(await reader.next() == nil)
    }

    @Test func aSlowReaderIsToldToReadAllAgain() async throws {
        var reader = feed.changes.makeAsyncIterator()
        for number in 0...OfflineChange.maximumPostCount {
            try await feed.createPost(Post(title: "\(number)"))
        }
        let change = try #require(await reader.next())
        #expect(change.isEverything)
        #expect(change.changedPosts.isEmpty)
        await feed.close()
    }
}
