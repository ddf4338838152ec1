import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The service is killed at random moments under votes, creates, edits and deletes: what it
/// acknowledged is there, and nothing is there twice.
@Suite(.serialized, .timeLimit(.minutes(10)), DurableService.needed) struct KillTests {
    /// Cycles in a directory, before another one begins.
    static let cyclesOfRun = 10

    /// Cycles in all: `FEED_KILL_CYCLES`, or 50.
    static var cycleCount: UInt64 { TestEnvironment.number("FEED_KILL_CYCLES") ?? 50 }

    @Test(
        "T-RUN-6: a kill loses nothing that was acknowledged, and doubles nothing",
        arguments: TestEnvironment.seeds(1...(max(1, cycleCount / UInt64(cyclesOfRun))))
    )
    func survivesKills(seed: UInt64) async throws {
        let summary = try await KillRun.run(seed: seed, cycles: Self.cyclesOfRun)
        print("seed \(seed): \(summary)")
        #expect(summary.problems.isEmpty, "seed \(seed)")
        // Else the run would have shown nothing.
        #expect(summary.cycleCount == Self.cyclesOfRun)
        #expect(summary.acknowledgedVoteCount > 1000)
        #expect(summary.acknowledgedChangeCount > 100)
        #expect(summary.killsBehindCheckpoint > 0)
        #expect(summary.checkpointedRecord > 0)
    }

    @Test("a service that counts wrong would be seen", arguments: KillFault.allCases)
    func seesFaults(_ fault: KillFault) async throws {
        let summary = try await KillRun.run(seed: 1, cycles: 20, fault: fault)
        #expect(!summary.problems.isEmpty, "\(fault)")
    }
}

/// A data directory whose service is killed again and again under load, and audited.
final class KillRun {
    struct Summary: Sendable {
        var cycleCount = 0
        var acknowledgedVoteCount = 0
        var acknowledgedChangeCount = 0
        var killsInRecovery = 0
        /// Kills after which `state.db` lacked some of the journal.
        var killsBehindCheckpoint = 0
        /// The last record that `state.db` had, at the end.
        var checkpointedRecord = 0
        var problems: [String] = []
    }

    /// Small checkpoints, so that kills come into them.
    private static let flags = [
        "--threads", "2", "--fold-bytes", "20000", "--keep-journal", "--state-hash",
        "--ballast", "1048576", "--space-low", "2097152", "--space-high", "4194304",
    ]
    /// About what a start makes of calls that read or write, of a state such as the runs have.
    private static let callsOfAStart = 360
    private static let feeds = [
        Feed(name: "ballots", defaultOrder: .hot, voteMode: .ballot, voters: .devices),
        Feed(name: "quiet", defaultOrder: .old, voteMode: .tally, maximumTextLength: 5),
    ]

    private let directory: TemporaryDirectory
    private let model = Locked(KillModel())
    private let clients: [KillClient]
    /// A page token of before the first kill, and the posts after it.
    private let quietPage: (token: [UInt8], rest: [PostID])
    private var random: SeededGenerator
    private var counts = Summary()

    /// Kills a service so often under load, or until something is wrong.
    static func run(seed: UInt64, cycles: Int, fault: KillFault? = nil) async throws -> Summary {
        let run = try await KillRun(seed: seed, fault)
        for _ in 0..<cycles {
            try await run.cycle()
            if !run.model.withLock(\.problems).isEmpty { break }
        }
        return run.summary
    }

    private var summary: Summary {
        var summary = counts
        model.withLock { model in
            summary.acknowledgedVoteCount = model.acknowledgedVoteCount
            summary.acknowledgedChangeCount = model.acknowledgedChangeCount
            summary.problems = model.problems
        }
        return summary
    }

    private init(seed: UInt64, _ fault: KillFault?) async throws {
        let directory = try TemporaryDirectory()
        let service = try await DurableService.start(directory.path, Self.flags)
        let made = try await service.call { [model] client in
            try Self.makePosts(client, model)
        }
        #expect(await service.stop() == 0)
        self.directory = directory
        random = SeededGenerator(seed: seed)
        clients = (0..<4).map { [model] in
            KillClient(
                number: $0,
                seed: seed << 8 + UInt64($0),
                isSequenced: $0 < 2,
                shared: made.shared,
                ballotPosts: made.ballots,
                model: model,
                fault: fault
            )
        }
        quietPage = made.quietPage
    }

    private struct Made {
        var shared: [PostID]
        var ballots: [PostID]
        var quietPage: (token: [UInt8], rest: [PostID])
    }

    /// Makes feeds and posts that are not to change but for their votes.
    private static func makePosts(_ client: WireClient, _ model: Locked<KillModel>) throws -> Made {
        for feed in feeds {
            let answer = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            guard case .feed(let made) = answer.response else { throw KillRunError.noAnswer }
            model.withLock { $0.feeds[feed.name] = made }
        }
        func posts(_ count: Int, in feed: String) throws -> [PostID] {
            try (0..<count).map {
                let title = "\(feed) \($0)"
                let id = try client.createPost(title: title, feed: feed)
                model.withLock { $0.posts[id] = KillModel.ExpectedPost(title: title) }
                return id
            }
        }
        let ballots = try posts(4, in: "ballots")
        model.withLock { model in for id in ballots { model.ballots[id] = [:] } }
        let quiet = try posts(7, in: "quiet")
        let page = try client.list(ListPostsRequest(feed: "quiet", pageSize: 3))
        return Made(
            shared: try posts(10, in: "posts"),
            ballots: ballots,
            quietPage: (page.nextPageToken, Array(quiet[3...]))
        )
    }
}

extension KillRun {
    /// Load, a kill, perhaps kills while the service recovers, and an audit.
    private func cycle() async throws {
        // At times another load follows before anybody looks, so that repeats are cut off, too.
        repeat {
            let service = try await DurableService.start(directory.path, Self.flags)
            model.withLock { $0.beginLife() }
            try await loadUntilKilled(service)
        } while random.oneIn(5)
        while random.oneIn(3) { try await killInRecovery() }
        let verified = try await verify()
        model.withLock { $0.beginLife() }
        let restarted = try await DurableService.start(directory.path, Self.flags)
        let hash = restarted.process.output.compactMap { $0.firstMatch(of: /state hash (\w+)/) }
        if hash.first.map({ String($0.1) }) != verified {
            model.withLock { $0.complain("state hash \(verified), and another when it serves") }
        }
        try await audit(restarted)
        // An orderly end has checkpointed all, a kill has not; the next cycle starts from either.
        if random.oneIn(2) {
            #expect(await restarted.stop() == 0)
        } else {
            await restarted.kill()
        }
        counts.cycleCount += 1
    }

    /// All clients work until the service is killed, so many calls of the system after so many answers.
    private func loadUntilKilled(_ service: DurableService) async throws {
        let goal = Int.random(in: 100...1500, using: &random)
        let callCount = Int.random(in: 0...60, using: &random)
        let answered = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients {
                group.addTask { [process = service.process, port = service.port] in
                    try await offload {
                        client.work(port: port) {
                            let isGoal = answered.withLock { count in
                                count += 1
                                return count == goal
                            }
                            guard isGoal else { return }
                            // So that the moment has nothing to do with the answer.
                            process.awaitCalls(callCount)
                            process.signal(9)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        // Where every client has lost its connection by itself, the service is not killed yet.
        if answered.withLock({ $0 }) < goal {
            model.withLock { $0.complain("the service has closed its connections") }
        }
        await service.kill()
    }

    /// Starts the service and kills it, so many calls of the system later.
    private func killInRecovery() async throws {
        let callCount = Int.random(in: 0...Self.callsOfAStart, using: &random)
        let process = try DurableService.launch(directory.path, Self.flags)
        try await offload {
            process.awaitCalls(callCount) {
                process.output.contains { $0.contains("listening on") }
            }
        }
        process.signal(9)
        _ = await process.exitStatus()
        counts.killsInRecovery += 1
    }

    /// Reads the directory while no service has it: what `state.db` and the journal hold, and that
    /// the whole journal comes to the same; returns the hash of that.
    private func verify() async throws -> String {
        let process = try RunningProcess(
            Programs.feedService,
            ["verify", directory.path, "--replay-all"]
        )
        let (status, output) = await process.finish()
        let text = output.joined(separator: "\n")
        if status != 0 { model.withLock { $0.complain("verify: \(status), \(text)") } }
        if let match = text.firstMatch(
            of: /(\d+) records with \d+ log entries after the checkpoint at (\d+)/
        ) {
            counts.killsBehindCheckpoint += match.1 == "0" ? 0 : 1
            counts.checkpointedRecord = Int(match.2) ?? 0
        }
        return (text.firstMatch(of: /state hash (\w+)/)?.1).map { String($0) } ?? "none"
    }

    /// Sends what is to be sent again, and compares all that the service shows with the model.
    private func audit(_ service: DurableService) async throws {
        let (token, rest) = quietPage
        let reading = try await offload { [model, clients] in
            for client in clients { try client.repeatUnanswered(port: service.port) }
            var reading = KillReading()
            for client in clients {
                for (post, ballot) in try client.standingBallots(port: service.port) {
                    reading.ballots[post, default: [:]][client.number] = ballot
                }
            }
            let connection = try WireClient(port: service.port)
            var request = ListPostsRequest(order: .new, pageSize: 100)
            repeat {
                let page = try connection.list(request)
                reading.posts += page.posts
                request.pageToken = page.nextPageToken
            } while !request.pageToken.isEmpty
            let answer = try connection.call(.listFeeds)
            guard case .listFeeds(let feeds) = answer.response else { throw KillRunError.noAnswer }
            reading.feeds = feeds.feeds
            model.withLock { $0.see(revision: answer.revision) }
            // A token of before the first kill.
            let page = try connection.list(
                ListPostsRequest(feed: "quiet", pageSize: 100, pageToken: token)
            )
            if page.posts.map(\.id) != rest {
                model.withLock { $0.complain("a page is \(page.posts.map(\.id)), was \(rest)") }
            }
            return reading
        }
        model.withLock { $0.settle(reading) }
    }
}
