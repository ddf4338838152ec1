import FeedProto
import FeedTestSupport
import Foundation
import Histogram
import LoadGen
import Testing

extension LiveTests {
    /// The audit sees a service that counts wrong, over real connections.
    @Suite struct FaultTests {
        @Test func passesAServiceThatCountsRight() async throws {
            let result = try await loadFake(FakeFaults(), shortLoad).result
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == 5000)
            #expect(summary.countedVoteCount == 5000)
            #expect(summary.exactPostCount == 50)
            #expect(summary.listedPostCount == 50)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.totals.merged(.service)?.totalCount == 5000)
            #expect(result.exitStatus == .success)
        }

        @Test("more posts than a cache has room for, and requests that are no votes among them")
        func passesAServiceWithManyPosts() async throws {
            let service = try await FakeService.start()
            let flags = ["--posts", "10k", "-P", "16", "--mix", "vote=80,create=10,get=10"]
            let result = try await load(service, shortLoad + flags)
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.exactPostCount == 10_000)
            #expect(result.totals.outcomes.ok == 5000)
        }

        @Test func resetsAConnectionWhoseHelloIsAnsweredWithAPing() async throws {
            let service = try await FakeService.start(FakeFaults(greetsWithPing: true))
            await #expect {
                _ = try await load(service, shortLoad)
            } throws: { error in
                "\(error)".contains("No connection of the load could be opened")
                    && "\(error)".contains("protocol error")
            }
            await service.stop()
        }

        @Test(arguments: [
            ([], Violation.lostVote, FakeFeed.Faults(dropEvery: 1000)),
            ([], Violation.extraVote, FakeFeed.Faults(doubleEvery: 1000)),
            ([], Violation.countedError, FakeFeed.Faults(failCountedEvery: 1000)),
            (["-P", "16"], Violation.lostVote, FakeFeed.Faults(dropEvery: 5000)),
            (["-P", "16"], Violation.extraVote, FakeFeed.Faults(doubleEvery: 5000)),
        ])
        func catches(
            _ arguments: [String],
            _ violation: Violation,
            _ faults: FakeFeed.Faults
        ) async throws {
            let result = try await loadFake(faults, shortLoad + arguments).result
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[violation] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func passesErrorsThatDidNotCount() async throws {
            let result = try await loadFake(FakeFaults(failEvery: 100), shortLoad).result
            #expect(result.audit.isPassed)
            #expect(result.totals.outcomes.error == 50)
            #expect(result.totals.failures.serverErrors == ["RESOURCE_EXHAUSTED/OVERLOADED": 50])
        }

        @Test func namesTheFlagThatLiftsALimitOfPosts() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(refusal: "RATE_LIMITED"))
            await #expect {
                try await load(service, shortLoad)
            } throws: {
                "\($0)".contains("--max-posts-per-hour")
            }
            await service.stop()
        }

        @Test(arguments: ["1", "16"])
        func resetsAConnectionWhoseAnswersAreOutOfOrder(_ pipeline: String) async throws {
            let service = try await FakeService.start(FakeFeed.Faults(misnumberAt: 2008))
            let arguments = shortLoad + ["-P", pipeline, "--pipeline-mode", "batch"]
            let result = try await load(service, arguments)
            await service.stop()
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("due"))
            #expect(result.totals.failures.causes[.protocolError] == 1)
            #expect(result.lostConnectionCount == 1)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .failed)
        }

        @Test func takesARefusalThatPassesTheAnswerToAVote() async throws {
            let result = try await loadFake(
                FakeFaults(passAt: 2008),
                shortLoad + ["-P", "16"]
            ).result
            #expect(result.totals.failures.firstProtocolError == nil)
            #expect(result.lostConnectionCount == 0)
            #expect(result.totals.failures.serverErrors == ["UNAVAILABLE/OVERLOADED": 1])
            #expect(result.totals.outcomes.error == 1)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
        }

        @Test(arguments: ["1", "16"])
        func resetsAConnectionWhereAVoteIsOfAnotherPost(_ pipeline: String) async throws {
            let result = try await loadFake(
                FakeFaults(misdirectAt: 2008),
                shortLoad + ["-P", pipeline]
            ).result
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("is about post"))
            #expect(result.totals.failures.causes[.protocolError] == 1)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .failed)
        }

        /// Its time is over, and it is still no answer to that vote.
        @Test func resetsAConnectionWhereALateVoteIsOfAnotherPost() async throws {
            let faults = FakeFeed.Faults(misdirectAt: 201, stallAt: 200)
            let service = try await FakeService.start(faults)
            let arguments = ["-d", "2s", "-w", "0", "--clients", "1", "--posts", "50"]
            let result = try await load(service, arguments + ["--timeout", "150ms"])
            await service.stop()
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("is about post"))
            #expect(result.totals.failures.causes[.protocolError] == 1)
            #expect(result.totals.outcomes.timeout > 0)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
        }

        @Test func endsAWalkOverPagesThatRepeat() async throws {
            let result = try await loadFake(FakeFaults(repeatsPages: true), shortLoad).result
            let findings = try #require(result.audit.summary).findings.counts
            #expect(findings[.listedTwice] == 50)
            #expect(findings[.walkCount] == 1)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(arguments: ["1", "10"])
        func findsStalePages(_ pageSize: String) async throws {
            let mix = ["--mix", "vote=50,list=50", "--page-size", pageSize]
            let result = try await loadFake(FakeFaults(staleCount: 100), shortLoad + mix).result
            let counts = try #require(result.audit.summary).findings.counts
            #expect(counts[.stalePage] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(.timeLimit(.minutes(5)))
        func endsAWalkOverPostsThatAreMadeUp() async throws {
            let result = try await loadFake(FakeFaults(makesUpPosts: true), shortLoad).result
            let summary = try #require(result.audit.summary)
            // Twice the 50 posts that the list says it has, 100,000, and the page that passes this.
            #expect(summary.listedPostCount == 100_200)
            #expect(summary.findings.counts[.notListed] == 50)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(arguments: [Int64.min, .max])
        func reportsScoresAndClocksBeyondReason(_ number: Int64) async throws {
            let faults = FakeFeed.Faults(clock: number, readScore: number)
            let result = try await loadFake(faults, shortLoad).result
            let findings = try #require(result.audit.summary).findings.counts
            #expect(findings[number < 0 ? .lostVote : .extraVote] == .max)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func resetsAConnectionWhereAResultOfABatchIsEmpty() async throws {
            let result = try await loadFake(
                FakeFaults(emptyResultAt: 2000),
                shortLoad + ["--batch", "16"]
            ).result
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("is not one of a vote and a status"))
            #expect(result.totals.failures.causes[.protocolError] == 1)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
        }

        @Test func seesThatTheScoreOfAVoteFalls() async throws {
            let result = try await loadFake(
                FakeFaults(dropEvery: 1000),
                shortLoad + ["--clients", "1", "--keys", "one"]
            ).result
            // The vote after each one that was forgotten gets the same score; the last one has none.
            let counts = try #require(result.audit.summary).findings.counts
            #expect(counts[.fallingScore] == 4)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func reportsWhatIsKnownOfAServiceThatDies() async throws {
            let result = try await loadFake(FakeFaults(dieAt: 3000), shortLoad).result
            #expect(result.lostConnectionCount == 8)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.outcomes.lost > 0)
            #expect(!result.audit.isPassed && !result.audit.isFailed)
            #expect(result.exitStatus == .failed)
            #expect(TextReport(result).rendered().contains("NOT POSSIBLE"))
        }

        @Test func callsUnansweredVotesUnknownAndPassesThem() async throws {
            let result = try await loadFake(
                FakeFaults(silentFrom: 4000),
                shortLoad + ["--timeout", "100ms"]
            ).result
            let outcomes = result.totals.outcomes
            #expect(outcomes.unknown == 8)
            #expect(outcomes.isConserved)
            let summary = try #require(result.audit.summary)
            #expect(summary.unknownVoteCount == 8)
            #expect(summary.countedVoteCount == summary.acknowledgedVoteCount.signed + 8)
            #expect(summary.findings.isEmpty)
        }
    }

}

extension AuditOutcome {
    var summary: AuditSummary? { if case .done(let summary) = self { summary } else { nil } }
}

extension UInt64 {
    fileprivate var signed: Int64 { Int64(self) }
}

extension LiveTests {
    /// What a run with `--retry` does where a service does not keep what exactly-once promises.
    @Suite struct RetryFaultTests {
        private static let retrying = shortLoad + ["--retry", "50", "-P", "8"]

        /// The negative control of every test that passes: the audit sees a vote that counts twice.
        @Test(arguments: [
            FakeFaults(loseAfterEvery: 1001, ignoresSequences: true),
            FakeFaults(cutEvery: 1001, ignoresSequences: true),
        ])
        func catchesAVoteThatCountsTwice(_ faults: FakeFaults) async throws {
            let result = try await loadFake(faults, Self.retrying).result
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[.extraVote] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func catchesAVoteThatIsLost() async throws {
            let result = try await loadFake(
                FakeFaults(dropEvery: 1000, loseAfterEvery: 1001),
                Self.retrying
            ).result
            #expect(result.audit.summary?.findings.counts[.lostVote] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(arguments: [
            FakeFaults(loseAfterEvery: 1001, forgetsChannels: true),
            FakeFaults(loseAfterEvery: 1001, losesHellos: true),
        ])
        func neverSendsAgainWhatTheServiceHasForgotten(_ faults: FakeFaults) async throws {
            let (service, result) = try await loadFake(faults, Self.retrying)
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.unknownVoteCount > 0)
            #expect(result.totals.failures.causes[.forgotten] == summary.unknownVoteCount)
            #expect(result.totals.outcomes.lost == summary.unknownVoteCount)
            #expect(result.totals.outcomes.isConserved)
            // The vote that counted is among the unknown ones; those behind it never did.
            #expect(service.feed.voteCount == summary.acknowledgedVoteCount + 4)
        }

        /// The post was created, so a second one of its title would be one too many.
        @Test(arguments: [
            FakeFaults(loseCreateEvery: 31, forgetsChannels: true),
            FakeFaults(loseCreateEvery: 31, losesHellos: true),
        ])
        func createsNoPostAgainThatTheServiceHasForgotten(_ faults: FakeFaults) async throws {
            let (service, result) = try await loadFake(faults, Self.retrying)
            guard case .impossible(let reason) = result.audit
            else { throw Unexpected("The run went on: \(result.audit)") }
            #expect(reason.contains("no longer knows which calls of this run it had executed"))
            let titles = service.feed.state.withLock { $0.posts.values.map(\.title) }
            #expect(titles.count >= 31)
            #expect(Set(titles).count == titles.count)
            #expect(result.exitStatus == .failed)
        }

        @Test func refusesAServiceWithoutExactlyOnce() async throws {
            let service = try await FakeService.start(FakeFaults(lacksExactlyOnce: true))
            let failure = await #expect(throws: RunFailure.self) {
                try await load(service, Self.retrying)
            }
            await service.stop()
            #expect(failure == .noExactlyOnce)
            #expect(failure?.exitStatus == .failed)
            #expect(failure?.description.hasPrefix("--retry: ") == true)
            #expect(service.feed.scores.isEmpty)
        }

        @Test func failsTheAuditOfAServiceThatComesBackEmpty() async throws {
            let result = try await loadFake(
                FakeFaults(dieAt: 3000, restarts: true, restartsEmpty: true),
                Self.retrying
            ).result
            #expect(result.audit.summary?.findings.counts == [.otherState: 1])
            #expect(result.totals.outcomes.isConserved)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func givesUpWhereTheServiceStaysAway() async throws {
            let result = try await loadFake(
                FakeFaults(dieAt: 3000),
                shortLoad + ["--retry", "2", "-P", "8"]
            ).result
            #expect(result.lostConnectionCount == 8)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.outcomes.lost > 0)
            #expect(!result.audit.isPassed && !result.audit.isFailed)
            #expect(result.exitStatus == .failed)
        }

        @Test func doesNotRetryAcrossABrokenProtocol() async throws {
            let result = try await loadFake(FakeFaults(misnumberAt: 2008), Self.retrying).result
            #expect(result.totals.failures.causes[.protocolError] == 1)
            #expect(result.lostConnectionCount == 1)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .failed)
        }
    }
}

extension LiveTests {
    /// Runs against services whose answers are damaged, or made up to do damage.
    ///
    /// `FEED_MUTATED_ANSWERS` says how many answers are changed, instead of the few of a usual test run.
    @Suite struct MutatedAnswerTests {
        private static let answerCount = TestEnvironment.number("FEED_MUTATED_ANSWERS") ?? 150
        /// Few posts, all operations, and many connections: a damaged answer ends one.
        private static let flags = [
            "-n", "1k", "-w", "0", "--clients", "40", "-P", "8", "--posts", "20", "--timeout",
            "200ms",
            "--page-size", "5",
        ]

        @Test func survivesThemFromAService() async throws {
            var seed = TestEnvironment.firstSeed
            var count: UInt64 = 0
            while count < Self.answerCount {
                var faults = FakeFaults()
                // A service that damages less lets a run come further.
                faults.mutation = (seed, [5, 40, 400][Int(seed % 3)])
                let service = try await FakeService.start(faults)
                let mix = [["vote=6,create=1,list=1,page=1,get=1"], ["vote"]][Int(seed / 3 % 2)]
                let batch = seed % 4 == 3 ? ["--batch", "3"] : []
                let flags = Self.flags + ["--mix"] + mix + batch
                check(try? await load(service, flags), seed)
                await service.stop()
                count += max(1, service.feed.state.withLock { $0.mutator?.count ?? 0 })
                seed += 1
            }
        }

        @Test func survivesThemFromRedisServer() async throws {
            var seed = TestEnvironment.firstSeed
            var count: UInt64 = 0
            while count < Self.answerCount {
                let faults = FakeRedis.Faults(mutation: (seed, [5, 40, 400][Int(seed % 3)]))
                let server = try await FakeRedis.start(faults)
                let flags = Self.flags + ["--mix", "vote=6,list=1,page=1,get=1"]
                check(try? await loadRedis(server, flags), seed)
                await server.stop()
                count += max(1, server.mutatedCount)
                seed += 1
            }
        }

        /// Whatever came, the generator's own counts hold, and no text obeys the service.
        private func check(_ result: RunReport?, _ seed: UInt64) {
            guard let result else { return }
            #expect(result.totals.outcomes.isConserved, "seed \(seed)")
            let json = result.json
            for text in [TextReport(result).rendered(), json] {
                let isPlain = text.unicodeScalars.allSatisfy {
                    $0 == "\n" || ![.control, .format].contains($0.properties.generalCategory)
                }
                #expect(isPlain, "seed \(seed): \(text.debugDescription)")
            }
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(json.utf8)) }
        }

        /// The numbers that damage does not find: each at an end of its range.
        @Test(arguments: [Int64.min, .max])
        func survivesTheLargestNumbers(_ number: Int64) async throws {
            let faults = FakeFaults(clock: number, readScore: number)
            let result = try await loadFake(faults, shortLoad).result
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func printsNothingRawOfARefusal() async throws {
            let service = try await FakeService.start(
                FakeFaults(refusal: "\u{1B}]0;x\u{7}\nexit 0")
            )
            let failure = await #expect(throws: RunFailure.self) {
                try await load(service, shortLoad)
            }
            await service.stop()
            let text = try #require(failure?.description)
            #expect(text.contains(#"\u{1B}]0;x\u{7}\nexit 0"#), "\(text.debugDescription)")
        }
    }
}

/// Changes some answers as a hostile service might, from a seed: bits, bytes, lengths, the largest
/// numbers, and bytes that a terminal obeys.
struct AnswerMutator: Sendable {
    /// How many answers were changed.
    private(set) var count: UInt64 = 0
    private var random: SeededGenerator
    private let oneIn: Int

    init(seed: UInt64, oneIn: Int) {
        random = SeededGenerator(seed: seed)
        self.oneIn = oneIn
    }

    /// Changes some of the frames in `bytes`, which stay frames.
    mutating func frames(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var rest = bytes[...]
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let body = answer(Array(rest.dropFirst(4).prefix(length)))
            rest = rest.dropFirst(4 + length)
            output += (0..<4).reversed().map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) }
            output += body
        }
        return output
    }

    mutating func answer(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty, random.oneIn(oneIn) else { return bytes }
        count += 1
        var bytes = bytes
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.replaceSubrange(place...place, with: Self.largest)
        case 3: bytes.insert(contentsOf: Self.largest, at: place)
        case 4: bytes.insert(contentsOf: Array("\u{1B}[2J\n\u{202E}".utf8), at: place)
        case 5: bytes.removeSubrange(place...)
        default: bytes.insert(contentsOf: bytes[place...], at: place)
        }
        return bytes
    }

    /// The largest number of 64 bits as a varint; as an `int64` it is -1.
    private static let largest = [UInt8](repeating: 0xFF, count: 9) + [0x01]
}
