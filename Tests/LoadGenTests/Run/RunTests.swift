import FeedProto
import FeedTestSupport
import FeedTransport
import Glibc
import Histogram
import LoadGen
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
            let service = try await FakeService.start()
            let result = try await load(service, shortLoad + ["-P", "32", "--pipeline-mode", mode])
            await service.stop()
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
            let service = try await FakeService.start()
            let result = try await load(service, shortLoad + ["--threads", "3"])
            await service.stop()
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
            let service = try await FakeService.start(voteMode: mode)
            let result = try await load(service, shortLoad + ["--cleanup"] + flags)
            await service.stop()
            let state = service.feed.state.withLock { $0 }
            #expect(state.posts.isEmpty && state.createCount >= 50)
            #expect(result.cleanup == .done(postCount: state.deletedIDs.count))
            #expect(result.exitStatus == .success && result.record == nil)
            let line = "\nCleanup      \(state.createCount) posts deleted"
            #expect(TextReport(result).rendered().contains(line))
        }

        @Test func keepsWhatAFailedAuditFound() async throws {
            let service = try await FakeService.start(FakeFaults(dropEvery: 1000))
            let result = try await load(service, shortLoad + ["--cleanup"])
            await service.stop()
            #expect(result.cleanup == .kept && result.exitStatus == .auditFailed)
            #expect(service.feed.state.withLock { $0.posts.count } == 50)
        }

        @Test func triesTheAddressesOfANameInTheirOrder() async throws {
            let gone = try await FakeService.start()
            await gone.stop()
            let service = try await FakeService.start()
            let lookup = HostLookup { name, port in
                #expect(name == "feed.example.org" && port == 7433)
                return .success([gone.address, service.address])
            }
            let configuration = try configure(["--target", "feed.example.org:7433"] + shortLoad)
            let result = try await offload {
                try Run(configuration, lookup: lookup).execute()
            }
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
            let service = try await FakeService.start()
            let target = "\(service.address)"
            await service.stop()
            let failure = await #expect(throws: RunFailure.self) {
                try await offload { try Run(configure(["--target", target])).execute() }
            }
            #expect(failure?.exitStatus == .failed)
            #expect(
                failure?.description.hasPrefix("No service can be reached at \(target): ") == true
            )
        }

        @Test func keepsQuietAboutTheAuditWithoutVerify() async throws {
            let service = try await FakeService.start()
            let result = try await load(service, shortLoad + ["--no-verify"])
            await service.stop()
            #expect(result.audit == .skipped)
            #expect(result.exitStatus == .success)
        }
    }
}
