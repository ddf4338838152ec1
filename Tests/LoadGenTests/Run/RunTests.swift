import FeedClient
import FeedProto
import FeedTestSupport
import FeedTransport
import Foundation
import Glibc
import Histogram
import LoadGen
import LoadGenCommand
import Testing

/// Whole runs against a service.
@Suite struct LiveTests {}

extension LiveTests {
    /// A load from the first connection to the audit.
    @Suite struct RunTests {
        @Test func mixesEveryOperationAndAuditsCreatedPosts() async throws {
            let service = try await FakeService.start()
            let mix = "vote=60,create=10,list=10,page=10,get=10"
            let result = try await load(service, shortLoad + ["--mix", mix, "-P", "4"])
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.createdPostCount > 0)
            #expect(summary.listedPostCount == 50 + summary.createdPostCount)
            for operation in Operation.allCases {
                let histogram = result.totals.latencies[LatencyKey(operation, .service)]
                #expect(histogram?.totalCount ?? 0 > 0, "\(operation.name)")
            }
        }

        @Test(arguments: ["window", "batch"])
        func answersEveryRequestOfAPipeline(_ mode: String) async throws {
            let result = try await loadFake(
                FakeFaults(),
                shortLoad + ["-P", "32", "--pipeline-mode", mode]
            ).result
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.audit.isPassed)
            // Fewer writes than requests: what leaves together is written together.
            #expect(result.totals.traffic.writeCount < 2500)
        }

        /// A search makes many runs in one process.
        @Test(.timeLimit(.minutes(10))) func leavesNothingBehind() async throws {
            let service = try await FakeService.start()
            let configuration = try configure(["--target", "\(service.address)"] + shortLoad)
            try await offload {
                weak var left: Run?
                do {
                    let run = try Run(configuration)
                    left = run
                    _ = try run.execute()
                }
                // The task of the audit may end a moment after the run.
                while left != nil { sched_yield() }
            }
            await service.stop()
        }

        @Test func spreadsOverThreads() async throws {
            let result = try await loadFake(FakeFaults(), shortLoad + ["--threads", "3"]).result
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.openedConnectionCount == 8)
            #expect(result.loopIdleShares.count == 3)
            #expect(result.audit.isPassed)
        }

        /// A run of a few milliseconds, about as long as its threads wait for its start.
        @Test func sleepsNoLongerThanItMeasures() async throws {
            let service = try await FakeService.start()
            let arguments = ["-n", "20", "-w", "0", "--clients", "8", "--posts", "50"]
            let result = try await load(service, arguments + ["--threads", "2"])
            await service.stop()
            #expect(result.loopIdleShares.count == 2)
            for share in result.loopIdleShares { #expect((0...1).contains(share)) }
        }

        @Test func showsAStallInTheResponseTimeOfAnOpenLoop() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(stallAt: 200))
            let arguments = ["-R", "500", "--arrival", "uniform", "-d", "1s", "-w", "0", "-c", "1"]
            let result = try await load(service, arguments + ["--posts", "10"])
            await service.stop()
            let response = try #require(result.totals.merged(.response))
            let serviceTime = try #require(result.totals.merged(.service))
            let slip = try #require(result.totals.merged(.slip))
            // One request saw the stall; every one that was due meanwhile waited for it.
            #expect(response.valueAtPercentile(90) > 10 * serviceTime.valueAtPercentile(90))
            #expect(slip.valueAtPercentile(90) > 10 * serviceTime.valueAtPercentile(90))
            #expect(response.totalCount + result.totals.unsentCount == 500)
            #expect(result.totals.lateSendCount > 50)
            #expect(result.audit.isPassed)
        }

        @Test func sendsTheSameRequestsForTheSameSeed() async throws {
            let arguments = shortLoad + ["-c", "1", "--keys", "zipf:1.2", "--seed", "7"]
            var scores: [[Int64]] = []
            for _ in 0..<2 {
                let service = try await FakeService.start()
                _ = try await load(service, arguments)
                scores.append(service.feed.scores)
                await service.stop()
            }
            #expect(scores[0] == scores[1])
            #expect(scores[0].reduce(0, +) == 5000)
        }

        @Test func createsItsPostsInOrder() async throws {
            let service = try await FakeService.start()
            _ = try await load(service, shortLoad + ["-n", "10", "--posts", "500"])
            await service.stop()
            let posts = service.feed.state.withLock { $0.posts.values.sorted { $0.id < $1.id } }
            let titles = (0..<500).map { PostText.title(maker: 0, number: $0) }
            #expect(posts.map(\.title) == titles)
        }

        @Test func refusesAFeedWhoseVotesReplaceOneAnother() async throws {
            let service = try await FakeService.start(voteMode: .ballot)
            await #expect(throws: RunFailure.ballotFeed("posts")) {
                try await load(service, shortLoad + ["--feed", "posts"])
            }
            await service.stop()
        }

        @Test func makesAFeedOfItsOwnAndLeavesTheOthers() async throws {
            let service = try await FakeService.start()
            for _ in 0..<2 { _ = try await load(service, shortLoad) }
            await service.stop()
            let state = service.feed.state.withLock { $0 }
            #expect(state.feeds == ["posts", "loadgen"])
            #expect(Set(state.posts.values.map(\.feed)) == ["loadgen"])
        }

        @Test func saysWhatToDoWhereItMayNotMakeItsFeed() async throws {
            let service = try await FakeService.start(FakeFaults(refusesFeeds: true))
            let failure = await #expect(throws: RunFailure.self) {
                try await load(service, shortLoad)
            }
            await service.stop()
            let text = try #require(failure?.description)
            #expect(text.contains(#"The feed "loadgen" of this run is missing"#), "\(text)")
            #expect(text.contains("SERVICE_ONLY") && text.contains("--service-key-file"), "\(text)")
        }

        @Test(arguments: [["--mix", "vote=9,create=1"], ["--no-verify"], ["--voters", "20"]])
        func deletesWhatItMade(_ flags: [String]) async throws {
            let mode = flags.contains("--voters") ? VoteMode.ballot : .tally
            let (service, result) = try await loadFake(
                FakeFaults(),
                voteMode: mode,
                shortLoad + ["--cleanup"] + flags
            )
            let state = service.feed.state.withLock { $0 }
            #expect(state.posts.isEmpty && state.createCount >= 50)
            #expect(result.cleanup == .done(postCount: state.deletedIDs.count))
            #expect(result.exitStatus == .success && result.record == nil)
            let line = "\nCleanup      \(state.createCount) posts deleted"
            #expect(TextReport(result).rendered().contains(line))
        }

        @Test func keepsWhatAFailedAuditFound() async throws {
            let (service, result) = try await loadFake(
                FakeFaults(dropEvery: 1000),
                shortLoad + ["--cleanup"]
            )
            #expect(result.cleanup == .kept && result.exitStatus == .auditFailed)
            #expect(service.feed.state.withLock { $0.posts.count } == 50)
        }

        @Test func triesTheAddressesOfANameInTheirOrder() async throws {
            let nobody = try ReservedPort()
            let service = try await FakeService.start()
            let lookup = HostLookup { name, port in
                #expect(name == "feed.example.org" && port == 7433)
                return .success([.loopback(port: nobody.number), service.address])
            }
            let configuration = try configure(["--target", "feed.example.org:7433"] + shortLoad)
            let result = try await offload { try Run(configuration, lookup: lookup).execute() }
            #expect(result.audit.isPassed && result.totals.outcomes.ok == 5000)
            let again = try await offload {
                let record = try #require(result.record)
                return try Run(configuration, verifying: record, lookup: lookup).execute()
            }
            await service.stop()
            #expect(again.audit.isPassed)
        }

        @Test func saysThatANameHasNoAddress() throws {
            let lookup = HostLookup { name, _ in .failure(.unknownHost(name, "No such name.")) }
            let configuration = try configure(["--target", "feed.example.org:7433"])
            let failure = #expect(throws: RunFailure.self) {
                try Run(configuration, lookup: lookup)
            }
            #expect(failure?.description.contains("No such name.") == true)
            #expect(failure?.exitStatus == .failed)
        }

        /// Half of the requests wait for room on the one connection, and the loop sleeps.
        @Test func doesNotBlameTheLoopForAServiceThatStalls() async throws {
            var faults = FakeFaults(stallAt: 500)
            faults.stall = .seconds(1)
            let service = try await FakeService.start(faults)
            let flags = ["-R", "1k", "-c", "1", "-w", "0", "-n", "2k", "--posts", "50"]
            let result = try await load(service, flags + ["--timeout", "20s"])
            await service.stop()
            let slip = try #require(result.totals.merged(.slip)).valueAtPercentile(99)
            let late = try #require(result.totals.loopLate99)
            #expect(slip > 500_000_000 && late < Double(slip) / 2, "\(late) of \(slip)")
        }

        @Test func refusesAFeedThatIsNotThere() async throws {
            let service = try await FakeService.start()
            await #expect(throws: RunFailure.noFeed("elsewhere")) {
                try await load(service, shortLoad + ["--feed", "elsewhere"])
            }
            await service.stop()
        }

        @Test func saysThatNoServiceIsThere() async throws {
            let port = try ReservedPort()
            let target = port.address
            let failure = await #expect(throws: RunFailure.self) {
                try await offload { try Run(configure(["--target", target])).execute() }
            }
            #expect(failure?.exitStatus == .failed)
            #expect(
                failure?.description.hasPrefix("No service can be reached at \(target): ") == true
            )
        }

        @Test func keepsQuietAboutTheAuditWithoutVerify() async throws {
            let result = try await loadFake(FakeFaults(), shortLoad + ["--no-verify"]).result
            #expect(result.audit == .skipped)
            #expect(result.exitStatus == .success)
        }
    }
}

extension LiveTests {
    /// Runs whose votes leave in batches: each vote is counted and audited for itself.
    @Suite struct BatchRunTests {
        private static let batches = [
            "-n", "400", "-w", "0", "--clients", "8", "--posts", "50", "--batch", "16",
        ]

        @Test(arguments: [[], ["-P", "8"], ["-P", "8", "--pipeline-mode", "batch"], ["-t", "3"]])
        func countsVotesAndNotBatches(_ arguments: [String]) async throws {
            let result = try await loadFake(FakeFaults(), Self.batches + arguments).result
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == 6_400)
            #expect(summary.countedVoteCount == 6_400)
            #expect(result.totals.outcomes.sent == 6_400)
            #expect(result.totals.outcomes.ok == 6_400)
            #expect(result.totals.measuredRequestCount == 400)
            #expect(result.measuredAnswerCount == 6_400)
            #expect(result.totals.merged(.service)?.totalCount == 400)
            #expect(result.exitStatus == .success)
            let text = TextReport(result).rendered()
            #expect(text.contains("batches of 16 votes"))
            #expect(text.contains("batch of 16"))
        }

        @Test func sendsWhatAnotherMixAsksForBesideBatches() async throws {
            let service = try await FakeService.start()
            let mix = "vote=60,create=10,list=10,page=10,get=10"
            let result = try await load(service, Self.batches + ["--mix", mix, "-P", "4"])
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.createdPostCount > 0)
            #expect(result.totals.measuredRequestCount == 400)
            let votes = result.totals.measuredAnswers[Int(Operation.vote.rawValue)]
            #expect(votes % 16 == 0 && votes > 0)
            #expect(summary.acknowledgedVoteCount == votes)
        }

        @Test(arguments: [
            (Violation.lostVote, FakeFaults(dropEvery: 1000)),
            (Violation.extraVote, FakeFaults(doubleEvery: 1000)),
            (Violation.countedError, FakeFaults(failCountedEvery: 1000)),
        ])
        func catches(_ violation: Violation, _ faults: FakeFaults) async throws {
            let result = try await loadFake(faults, Self.batches).result
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[violation] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func countsEachVoteOfABatchThatFails() async throws {
            let result = try await loadFake(FakeFaults(failEvery: 100), Self.batches).result
            #expect(result.audit.isPassed)
            #expect(result.totals.outcomes.error == 64)
            #expect(result.totals.outcomes.ok == 6_336)
            #expect(result.totals.outcomes.isConserved)
        }

        @Test func callsTheVotesOfALostBatchUnknown() async throws {
            let result = try await loadFake(FakeFaults(dieAt: 3000), Self.batches).result
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.outcomes.lost > 0)
            #expect(result.totals.outcomes.lost % 16 == 0)
        }

        /// A batch that is sent again counts the votes that did not count, and no vote twice.
        @Test(arguments: [
            FakeFaults(loseBeforeEvery: 501), FakeFaults(loseAfterEvery: 501),
            FakeFaults(cutEvery: 501), FakeFaults(failEvery: 101),
            FakeFaults(failEvery: 101, loseAfterEvery: 501),
        ])
        func countsEachVoteOnceWhereBatchesAreSentAgain(_ faults: FakeFaults) async throws {
            let result = try await loadFake(
                faults,
                Self.batches + ["--retry", "50", "-P", "8"]
            ).result
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.countedVoteCount == 6_400)
            #expect(result.totals.outcomes.ok == 6_400)
            #expect(result.totals.retries.retryCount > 0)
            #expect(result.exitStatus == .success)
        }

        /// The negative control of the test above.
        @Test func catchesABatchThatCountsTwice() async throws {
            let result = try await loadFake(
                FakeFaults(loseAfterEvery: 501, ignoresSequences: true),
                Self.batches + ["--retry", "50", "-P", "8"]
            ).result
            #expect(result.audit.summary?.findings.counts[.extraVote] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func offersBatchesASecond() async throws {
            let service = try await FakeService.start()
            let arguments = ["-R", "200", "--arrival", "uniform", "-d", "1s", "-w", "0", "-c", "4"]
            let result = try await load(
                service,
                arguments + ["--posts", "10", "--batch", "4", "-P", "64"]
            )
            await service.stop()
            // What was due left as a batch, or not at all; a busy machine may answer some too late.
            let sent = result.totals.outcomes.sent
            #expect(sent % 4 == 0 && sent / 4 + result.totals.unsentCount == 200)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
        }
    }
}

/// A short load of 200 users who change their ballots.
private let voterLoad = shortLoad + ["--voters", "200", "--timeout", "30s"]

extension LiveTests {
    /// Runs in which a service acts for users, whose last ballots are audited.
    @Suite struct VoterRunTests {
        @Test(arguments: [
            [], ["-P", "16"], ["-P", "16", "--pipeline-mode", "batch"], ["--threads", "3"],
            ["--batch", "16", "-n", "400"], ["-R", "20k", "-P", "8"],
            ["--mix", "vote=60,create=10,list=10,page=10,get=10"],
        ])
        func countsTheLastBallotOfEachVoter(_ arguments: [String]) async throws {
            let (service, result) = try await loadFake(
                FakeFaults(),
                voteMode: .ballot,
                voterLoad + arguments
            )
            try expectLastBallots(result, service)
            let ballots = service.feed.state.withLock { $0.ballots }
            #expect(ballots.channels.count > 100 && ballots.channels.count <= 200)
            for (user, channels) in ballots.channels {
                #expect(channels.count == 1, "user \(user) has one connection")
            }
        }

        @Test func createsTheFeedWhereItIsMissing() async throws {
            let (service, result) = try await loadFake(
                FakeFaults(),
                voteMode: .ballot,
                voterLoad + ["--feed", "polls"]
            )
            #expect(service.feed.state.withLock { $0.feeds } == ["posts", "polls"])
            #expect(result.exitStatus == .success)
        }

        @Test func showsTheServiceKeyOnEachConnection() async throws {
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            let digits = String(repeating: "a7", count: 32)
            try digits.write(to: file, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(at: file) }
            let service = try await FakeService.start(voteMode: .ballot)
            _ = try await load(service, voterLoad + ["--service-key-file", file.path()])
            await service.stop()
            let keys = service.feed.state.withLock { $0.serviceKeys }
            #expect(keys == [[UInt8](repeating: 0xA7, count: 32)])
        }

        @Test func refusesAFileWithoutAKey() throws {
            let error = #expect(throws: FlagError.self) {
                try configure(["--service-key-file", "/dev/null"])
            }
            #expect(error?.flag == "--service-key-file")
        }

        @Test func refusesAFeedWhoseVotesAddUp() async throws {
            let service = try await FakeService.start()
            await #expect(throws: RunFailure.tallyFeed("posts")) {
                try await load(service, voterLoad + ["--feed", "posts"])
            }
            await service.stop()
        }

        @Test(arguments: [
            (Violation.lostVote, FakeFaults(dropEvery: 100)),
            (.extraVote, FakeFaults(doubleEvery: 100)),
            (.countedError, FakeFaults(failCountedEvery: 100)),
            (.wrongBallot, FakeFaults(wrongBallotEvery: 100)),
        ])
        func catches(_ violation: Violation, _ faults: FakeFaults) async throws {
            let result = try await loadFake(faults, voteMode: .ballot, voterLoad).result
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[violation] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(arguments: [["-P", "1"], ["-P", "16"], ["--batch", "16", "-n", "400"]])
        func passesBallotsWhoseOutcomeIsUnknown(_ arguments: [String]) async throws {
            let faults = FakeFaults(loseBeforeEvery: 901, loseAfterEvery: 1001)
            let result = try await loadFake(
                faults,
                voteMode: .ballot,
                voterLoad + arguments
            ).result
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.unknownVoteCount > 0)
            #expect(result.exitStatus == .failed, "connections were lost")
        }

        @Test func failsWithTheReasonWhereEveryVoteIsRefused() async throws {
            let faults = FakeFaults(refusesUsers: true)
            let result = try await loadFake(faults, voteMode: .ballot, voterLoad).result
            #expect(result.audit.isPassed)
            #expect(result.refusal == "PERMISSION_DENIED/SERVICE_ONLY")
            #expect(result.exitStatus == .failed)
            let text = TextReport(result).rendered()
            #expect(text.contains("refused every vote: PERMISSION_DENIED/SERVICE_ONLY."))
        }

        @Test(
            arguments: [
                FakeFaults(loseBeforeEvery: 501), FakeFaults(loseAfterEvery: 501),
                FakeFaults(failEvery: 97, loseBeforeEvery: 397, loseAfterEvery: 501, cutEvery: 701),
                FakeFaults(dieAt: 3000, restarts: true),
            ],
            [["-P", "256"], ["--batch", "16", "-n", "400", "-P", "4"]]
        )
        func countsEachVotersLastBallotThoughConnectionsAreLost(
            _ faults: FakeFaults,
            _ arguments: [String]
        ) async throws {
            let (service, result) = try await loadFake(
                faults,
                voteMode: .ballot,
                voterLoad + ["--retry", "50"] + arguments
            )
            try expectLastBallots(result, service)
            #expect(result.totals.retries.retryCount > 0)
        }

        @Test func auditsARecordOfBallotsAgain() async throws {
            let service = try await FakeService.start(voteMode: .ballot)
            let result = try await load(service, voterLoad)
            let first = try await verify(result, service)
            #expect(first.audit.summary?.findings.examples == [])
            #expect(first.audit.summary?.exactPostCount == 50)
            #expect(first.exitStatus == .success)
            service.feed.loseOneBallot()
            let second = try await verify(result, service)
            await service.stop()
            #expect(second.audit.summary?.findings.counts == [.lostVote: 1])
            #expect(second.exitStatus == .auditFailed)
        }

        private func expectLastBallots(_ result: RunReport, _ service: FakeService) throws {
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.unknownVoteCount == 0)
            #expect(summary.exactPostCount == 50)
            let standing = service.feed.state.withLock { $0.ballots.count }
            #expect(summary.acknowledgedVoteCount == UInt64(standing))
            #expect(summary.countedVoteCount == Int64(standing))
            #expect(standing > 1000)
            #expect(result.exitStatus == .success)
        }
    }
}

extension LiveTests {
    /// Connections that are closed and opened again, and clients that wait.
    @Suite struct ChurnTests {
        @Test(arguments: [
            [], ["--retry", "3"], ["-R", "20k"], ["-P", "8"], ["-P", "8", "--batch", "4"],
            ["-P", "8", "--pipeline-mode", "batch"], ["--threads", "2"],
        ])
        func opensConnectionsAgainAfterTheirRequests(_ flags: [String]) async throws {
            let result = try await loadFake(
                FakeFaults(),
                shortLoad + ["--reconnect-every", "50"] + flags
            ).result
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .success)
            #expect(result.lostConnectionCount == 0)
            #expect(!result.verdict.reasons.contains { $0.contains("lost") })
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.outcomes.ok == (flags.contains("--batch") ? 20_000 : 5000))
            // 5,000 requests are a hundred lives, of which each connection ends in one.
            #expect((92...100).contains(result.totals.reopenedCount))
        }

        @Test func opensConnectionsAgainAtTheirAge() async throws {
            let service = try await FakeService.start()
            let flags = ["-d", "1s", "-w", "0", "-c", "4", "--posts", "20", "-R", "500"]
            let result = try await load(service, flags + ["--conn-life", "200ms±50ms"])
            await service.stop()
            #expect(result.totals.reopenedCount > 0)
            #expect(result.lostConnectionCount == 0)
            #expect(result.audit.isPassed)
        }

        /// A user who waits 10 ms sends at most a hundred requests a second.
        @Test(arguments: [[], ["-P", "2"], ["--reconnect-every", "10"]])
        func waitsBeforeEachRequest(_ flags: [String]) async throws {
            let service = try await FakeService.start()
            let places = flags.contains("-P") ? 8.0 : 4.0
            let result = try await load(
                service,
                ["-n", "160", "-w", "0", "-c", "4", "--posts", "20", "--think", "10ms"] + flags
            )
            await service.stop()
            #expect(result.totals.outcomes.ok == 160)
            #expect(result.audit.isPassed)
            #expect(result.requestsPerSecond <= places * 100)
        }
    }
}
