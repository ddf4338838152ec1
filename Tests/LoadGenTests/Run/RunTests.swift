import FeedProto
import FeedTestSupport
import Histogram
import LoadGen
import Testing

/// Whole runs against a service in this process, one after another: they are about time.
@Suite(.serialized) struct LiveTests {}

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
                try await load(service, shortLoad)
            }
            await service.stop()
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
