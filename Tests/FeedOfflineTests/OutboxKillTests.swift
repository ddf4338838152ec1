import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The outbox of a program that is killed at random moments, before a service that is killed too.
///
/// Each entry counts exactly once. Faults show that the audit would see another count.
@Suite(.timeLimit(.minutes(10)))
struct OutboxKillTests {
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
        var upvotes: [UInt64: UInt64] = [:]
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
                var made: [UInt64] = []
                for _ in 0..<Int.random(in: 5...40, using: &random) {
                    let id = ids.randomElement(using: &random) ?? 0
                    try await feed.vote(on: id, .up)
                    made.append(id)
                }
                let title = "made in cycle \(cycle)"
                let post = try await feed.createPost(Post(title: title))
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
        _ upvotes: [UInt64: UInt64],
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
