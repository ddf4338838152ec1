import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Entries whose answers never came into the file.
@Suite(.timeLimit(.minutes(10)))
struct OutboxDoubtTests {
    /// An outbox whose program dies before it keeps an answer.
    private struct DyingOutbox: OutboxFile {
        let file: any OutboxFile

        func numberNext(of userID: UInt64) throws(OfflineError) -> [NumberedEntry] {
            try file.numberNext(of: userID)
        }

        func settle(
            _ outcomes: [(number: UInt64, outcome: OutboxOutcome)]
        ) throws(OfflineError) {
            throw .file(reason: "The program died.")
        }
    }

    /// A service with a post, and a file whose vote on it was executed and whose answer was lost.
    private static func run(_ body: (TestService, UInt64) async throws -> Void) async throws {
        try await TestService.run { service in
            let id = try await service.withClient { try await $0.createPost(Post(title: "old")).id }
            try await service.withFeed { try await $0.sync() }
            let feed = try await OfflineFeed.open(service.configuration()) { DyingOutbox(file: $0) }
            try await feed.vote(on: id, .up)
            await #expect(throws: OfflineError.file(reason: "The program died.")) {
                try await feed.sync()
            }
            #expect(try await feed.outbox().map(\.state) == [.sent])
            await feed.close()
            #expect(try await service.withClient { try await $0.getPost(id).score } == 1)
            try await body(service, id)
        }
    }

    @Test func theEntryIsSentAgainAndCountsOnce() async throws {
        try await Self.run { service, id in
            await service.end(signal: 9)
            try await service.start()
            try await service.withFeed { feed async throws in
                #expect(try await feed.sync().sentCount == 1)
                #expect(try await feed.post(id)?.score == 1)
            }
            #expect(try await service.withClient { try await $0.getPost(id).score } == 1)
        }
    }

    @Test func aFreshStateBringsTheEntryIntoDoubt() async throws {
        try await Self.run { service, id in
            await service.end(signal: 9)
            service.loseState()
            try await service.start()
            _ = try await service.withClient { try await $0.createPost(Post(title: "new")) }
            try await service.withFeed { feed async throws in
                #expect(try await feed.sync().inDoubtCount == 1)
                #expect(try await feed.outbox().map(\.state) == [.inDoubt(.stateReplaced)])
                // It is not shown as a vote, and is not sent by itself.
                #expect(try await feed.post(id)?.score == 0)
                try await feed.sync()
                #expect(try await service.withClient { try await $0.getPost(id).score } == 0)
                let entry = try #require(try await feed.outbox().first)
                try await feed.resend(entry.number)
                try await feed.sync()
                #expect(try await service.withClient { try await $0.getPost(id).score } == 1)
                await #expect(throws: OfflineError.unknownEntry(entry.number)) {
                    try await feed.drop(entry.number)
                }
            }
        }
    }

    @Test func anOldCopyOfTheFileIsNoticed() async throws {
        try await TestService.run { service in
            let id = try await service.withClient { try await $0.createPost(Post(title: "old")).id }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                try await feed.vote(on: id, .up)
            }
            try FileManager.default.copyItem(
                atPath: service.path("offline.db"),
                toPath: service.path("copy.db")
            )
            try await service.withFeed { feed async throws in
                try await feed.sync()
                try await feed.vote(on: id, .up)
                try await feed.sync()
            }
            try await service.withFeed("copy.db") { feed async throws in
                #expect(try await feed.sync().inDoubtCount == 1)
                #expect(try await feed.outbox().map(\.state) == [.inDoubt(.fileIsOld)])
            }
            #expect(try await service.withClient { try await $0.getPost(id).score } == 2)
        }
    }

    @Test func aChangeInDoubtFollowsItsPostThatIsSentAgain() async throws {
        try await TestService.run { service in
            let (post, vote) = try await service.withFeed { feed async throws in
                try await feed.sync()
                let post = try await feed.createPost(Post(title: "made here"))
                return (post, try await feed.vote(on: post.localPostID, .up))
            }
            try FileManager.default.copyItem(
                atPath: service.path("offline.db"),
                toPath: service.path("copy.db")
            )
            try await service.withFeed { feed async throws in
                #expect(try await feed.sync().sentCount == 2)
            }
            try await service.withFeed("copy.db") { feed async throws in
                #expect(try await feed.sync().inDoubtCount == 2)
                #expect(try await feed.post(post.localPostID) == nil)
                try await feed.resend(post.number)
                #expect(try await feed.post(post.localPostID)?.title == "made here")
                #expect(try await feed.sync().sentCount == 1)
                let sent = try #require(try await feed.post(post.localPostID))
                #expect(sent.score == 0)
                // The vote names the post as the service does, also once the file forgets the local id.
                let request = CastVoteRequest(postID: sent.id, direction: .up)
                #expect(try await feed.outbox().map(\.request) == [.castVote(request)])
                try await feed.resend(vote.number)
                #expect(try await feed.sync().sentCount == 1)
                #expect(try await feed.outbox().isEmpty)
                #expect(try await feed.post(post.localPostID)?.score == 1)
            }
        }
    }

    @Test func aChangeOnAPostThatIsGoneCannotBeSentAgain() async throws {
        try await TestService.run { service in
            try await service.withFeed { try await $0.sync() }
            let dying = try await OfflineFeed.open(service.configuration()) {
                DyingOutbox(file: $0)
            }
            let local = try await dying.createPost(Post(title: "gone")).localPostID
            let vote = try await dying.vote(on: local, .up)
            await #expect(throws: OfflineError.file(reason: "The program died.")) {
                try await dying.sync()
            }
            await dying.close()
            try await service.withClient { client async throws in
                let posts = try await client.listPosts(PostList(order: .new)).posts
                try await client.deletePost(try #require(posts.first).id)
            }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                #expect(try await feed.outbox().map(\.number) == [vote.number])
                await #expect(throws: OfflineError.unknownPost(local)) {
                    try await feed.resend(vote.number)
                }
                try await feed.drop(vote.number)
                #expect(try await feed.outbox().isEmpty)
            }
        }
    }
}
