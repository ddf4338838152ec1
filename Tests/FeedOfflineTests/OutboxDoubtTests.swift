import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Entries whose answers never came into the file.
@Suite(.timeLimit(.minutes(10))) struct OutboxDoubtTests {
    /// An outbox whose program dies before it keeps an answer.
    private struct DyingOutbox: OutboxFile {
        let file: any OutboxFile

        func numberNext(of userID: UserID) throws(OfflineError) -> [NumberedEntry] {
            try file.numberNext(of: userID)
        }

        func settle(_ outcomes: [(number: UInt64, outcome: OutboxOutcome)]) throws(OfflineError) {
            throw .file(reason: "The program died.")
        }
    }

    /// A service with a post, and a file whose vote on it was executed and whose answer was lost.
    private static func run(_ body: (TestService, PostID) async throws -> Void) async throws {
        try await TestService.run { service in
            let id = try await service.withClient {
                try await $0.createPost(PostDraft(title: "old")).id
            }
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
            _ = try await service.withClient { try await $0.createPost(PostDraft(title: "new")) }
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

    /// The channel has executed nothing: of several services one may have made it anew, without an answer.
    @Test(arguments: [["one"], ["one", "other"]])
    func aHelloToOneOfSeveralServicesMayHaveMadeTheChannel(addresses: [String]) async throws {
        let folder = try TemporaryDirectory()
        let hello = HelloResponse(
            serverName: "stub",
            instanceID: 1,
            serverTimeMilliseconds: 0,
            limits: nil,
            capabilities: [.exactlyOnce],
            isClientKnown: true
        )
        let voteCount = Locked(0)
        var configuration = OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        configuration.addresses = addresses
        let feed = try await OfflineFeed.open(
            configuration,
            wrapping: { $0 },
            waiting: { _ in },
            connecting: { _ in
                StubConnection(service: hello) { request throws(FeedClientError) in
                    switch request {
                    case .listFeeds:
                        let feeds = ListFeedsResponse(feeds: [])
                        return Answer(response: .listFeeds(feeds), revision: 1)
                    case .castVote(let vote):
                        let count = voteCount.withLock { count in
                            count += 1
                            return count
                        }
                        guard count > 1 else {
                            throw .connectionLost(reason: "The answer is lost.", effect: .unknown)
                        }
                        let answer = CastVoteResponse(
                            postID: vote.postID,
                            score: 1,
                            upvoteCount: 1,
                            downvoteCount: 0
                        )
                        return Answer(response: .castVote(answer), revision: 1)
                    default:
                        let changes = SyncPostsResponse(posts: [], nextRevision: 1, instanceID: 1)
                        return Answer(response: .syncPosts(changes), revision: 1)
                    }
                }
            }
        )
        try await feed.vote(on: 7, .up)
        // It connects again after the vote.
        let report = try await feed.sync()
        let isInDoubt = addresses.count > 1
        #expect(report.sentCount == (isInDoubt ? 0 : 1))
        #expect(
            try await feed.outbox().map(\.state) == (isInDoubt ? [.inDoubt(.channelForgotten)] : [])
        )
        #expect(voteCount.withLock { $0 } == (isInDoubt ? 1 : 2))
        await feed.close()
    }

    @Test func anOldCopyOfTheFileIsNoticed() async throws {
        try await TestService.run { service in
            let id = try await service.withClient {
                try await $0.createPost(PostDraft(title: "old")).id
            }
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
                let post = try await feed.createPost(PostDraft(title: "made here"))
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
            let local = try await dying.createPost(PostDraft(title: "gone")).localPostID
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

/// The outbox of a program that is killed at random moments, before a service that is killed too.
///
/// Each entry counts exactly once. Faults show that the audit would see another count.
@Suite(.timeLimit(.minutes(10))) struct OutboxKillTests {
    @Test(arguments: TestEnvironment.seeds(1...2))
    func eachEntryCountsOnceWhoeverIsKilled(seed: UInt64) async throws {
        let cycles = Int(TestEnvironment.number("FEED_OUTBOX_KILLS") ?? 25)
        let audit = try await KillAudit.run(seed: seed, cycles: cycles, fault: nil)
        #expect(audit.mistakes == [], "seed \(seed)")
        #expect(audit.killedCount > 0, "No program was killed: the moments are too late.")
    }

    @Test(arguments: ["numbered-after-send", "removed-before-answer"])
    func theAuditSeesAnOutboxThatIsWrong(fault: String) async throws {
        var mistakes: [String] = []
        for seed in UInt64(1)...20 where mistakes.isEmpty {
            mistakes = try await KillAudit.run(seed: seed, cycles: 25, fault: fault).mistakes
        }
        #expect(!mistakes.isEmpty)
    }
}

/// The changes that a file was given, and what a service has of them at the end.
private struct KillAudit {
    /// About what the program makes of calls that read or write, once it has opened its file.
    private static let mostCalls = 150

    var mistakes: [String] = []
    var killedCount = 0

    static func run(seed: UInt64, cycles: Int, fault: String?) async throws -> KillAudit {
        var audit = KillAudit()
        try await TestService.run { service in
            try await audit.run(service, SeededGenerator(seed: seed), cycles, fault)
        }
        return audit
    }

    private mutating func run(
        _ service: TestService,
        _ seeded: SeededGenerator,
        _ cycles: Int,
        _ fault: String?
    ) async throws {
        var random = seeded
        let ids = try await service.withClient { client async throws in
            try await client.importPosts((0..<40).map { Post(title: "post \($0)") }, in: "posts")
        }
        var upvotes: [PostID: UInt64] = [:]
        var titles: [String] = []
        // The channel has executed something before the first kill.
        try await service.withFeed { feed async throws in
            try await feed.sync()
            try await feed.vote(on: ids[0], .up)
            try await feed.sync()
        }
        upvotes[ids[0]] = 1
        for cycle in 1...cycles {
            let made = try await service.withFeed { feed async throws in
                var made: [PostID] = []
                for _ in 0..<Int.random(in: 5...40, using: &random) {
                    let id = ids.randomElement(using: &random) ?? 0
                    try await feed.vote(on: id, .up)
                    made.append(id)
                }
                let title = "made in cycle \(cycle)"
                let post = try await feed.createPost(PostDraft(title: title))
                try await feed.vote(on: post.localPostID, .up)
                titles.append(title)
                return made
            }
            for id in made { upvotes[id, default: 0] += 1 }
            try await send(service, &random, fault)
        }
        if try await finish(service) > 0 { mistakes.append("Entries are left.") }
        try await compare(service, upvotes, titles)
    }

    /// Lets a program send the outbox, and kills it or the service after so many calls of the system.
    private mutating func send(
        _ service: TestService,
        _ random: inout SeededGenerator,
        _ fault: String?
    ) async throws {
        let killsService = random.oneIn(4)
        let program = try RunningProcess(
            Programs.feedService.deletingLastPathComponent().appending(path: "OutboxProgram"),
            [service.path("offline.db"), service.address] + (fault.map { [$0] } ?? [])
        )
        _ = await program.line { $0 == "opened" }
        let callCount = Int.random(in: 0...Self.mostCalls, using: &random)
        try await offload { program.awaitCalls(callCount) }
        if killsService { await service.end(signal: 9) }
        if !killsService || random.oneIn(2) { program.signal(9) }
        if killsService { try await service.start() }
        if await program.exitStatus() == -9 { killedCount += 1 }
    }

    /// Sends what is left, and returns how many entries remain.
    private func finish(_ service: TestService) async throws -> Int {
        try await service.withFeed { feed async throws in
            try await feed.sync()
            return try await feed.outbox().count
        }
    }

    private mutating func compare(
        _ service: TestService,
        _ upvotes: [PostID: UInt64],
        _ titles: [String]
    ) async throws {
        var posts: [Post] = []
        try await service.withClient { client async throws in
            for try await post in client.posts(PostList(order: .old), pageSize: 100) {
                posts.append(post)
            }
        }
        for post in posts {
            if let expected = upvotes[post.id], expected != post.upvoteCount {
                mistakes.append("Post \(post.id): \(post.upvoteCount) votes, not \(expected).")
            }
        }
        for title in titles {
            let made = posts.filter { $0.title == title }
            if made.count != 1 || made[0].upvoteCount != 1 {
                let votes = made.map(\.upvoteCount)
                mistakes.append("\(title): votes \(votes), not one post with one vote.")
            }
        }
    }
}
