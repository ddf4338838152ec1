import FeedClient
import FeedTestSupport
import Foundation
import LoadGen
import LoadGenCommand
import Testing

extension LiveTests {
    /// Runs against the services of a cluster, of which one leads.
    @Suite struct FailoverTests {
        private func run(
            _ cluster: FakeCluster,
            _ arguments: [String],
            faults: FakeFaults = FakeFaults()
        ) async throws -> RunReport {
            let services = try await FakeService.start(faults, cluster: cluster)
            let target = services.map { "\($0.address)" }.joined(separator: ",")
            let configuration = try configure(["--target", target] + arguments)
            let result: Result<RunReport, any Error>
            do {
                result = .success(try await offload { try Run(configuration).execute() })
            } catch {
                result = .failure(error)
            }
            for service in services { await service.stop() }
            return try result.get()
        }

        private func expectEveryVoteOnce(_ result: RunReport) throws {
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == 5000)
            #expect(summary.countedVoteCount == 5000)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.lostConnectionCount == 0)
            #expect(result.exitStatus == .success)
        }

        @Test(
            "another service leads, and every vote counts once",
            arguments: [true, false],
            ["1", "16"]
        )
        func followsTheLeader(namesLeader: Bool, pipeline: String) async throws {
            let cluster = FakeCluster(leader: 2, moveEvery: 1_500, namesLeader: namesLeader)
            let result = try await run(cluster, shortLoad + ["-P", pipeline])
            try expectEveryVoteOnce(result)
            let failover = try #require(result.failover)
            #expect(cluster.moveCount >= 3)
            #expect(failover.leaderChangeCount >= 3)
            #expect(failover.longestGap > 0)
            #expect(result.totals.failures.serverErrors["UNAVAILABLE/NOT_LEADER"] ?? 0 > 0)
            let line = "changes of the leader \(failover.leaderChangeCount)"
            #expect(TextReport(result).rendered().contains(line))
        }

        @Test func goesOnWhereTheLeaderDies() async throws {
            let cluster = FakeCluster(leader: 1)
            let faults = FakeFaults(dieAt: 2_000, loseAfterEvery: 701)
            let arguments = shortLoad + ["-P", "8"]
            let result = try await run(cluster, arguments, faults: faults)
            try expectEveryVoteOnce(result)
            #expect(cluster.moveCount == 1)
            #expect(result.failover?.leaderChangeCount ?? 0 >= 1)
        }

        @Test("without retries the leader is found once", arguments: [0, 1, 2])
        func findsTheLeader(leader: Int) async throws {
            let arguments = shortLoad + ["--retry", "0"]
            let result = try await run(FakeCluster(leader: leader), arguments)
            try expectEveryVoteOnce(result)
            #expect(result.failover?.leaderChangeCount == 0)
        }

        @Test func waitsForTheFirstLeader() async throws {
            let cluster = FakeCluster(leader: 1, electionHelloCount: 9)
            try expectEveryVoteOnce(try await run(cluster, shortLoad))
        }

        @Test("a start is refused at once by one service only")
        func asksAgainWhereNoneListens() async throws {
            let ports = try (0..<2).map { _ in try ReservedPort() }
            let addresses = ports.map(\.address)
            for (target, asksAgain) in [
                (addresses.joined(separator: ","), true), (addresses[0], false),
            ] {
                let configuration = try configure(["--target", target, "--retry", "0"])
                let error = await #expect(throws: RunFailure.self) {
                    _ = try await offload { try Run(configuration).execute() }
                }
                guard case .unreachable(_, let cause)? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(configuration.asksAgain(after: .cannotConnect(reason: cause)) == asksAgain)
                #expect(!configuration.asksAgain(after: .cannotConnect(reason: "It is another.")))
            }
        }

        @Test("the first leader is waited for as often as --retry says", arguments: [0, 2])
        func endsWithoutALeader(retryLimit: Int) async throws {
            let cluster = FakeCluster(leader: 1, electionHelloCount: .max)
            await #expect {
                _ = try await run(cluster, shortLoad + ["--retry", "\(retryLimit)"])
            } throws: { error in
                guard case RunFailure.unreachable(_, let cause) = error else { return false }
                return cause.contains("NOT_LEADER")
            }
            // Each of the three is asked once a try.
            #expect(cluster.helloCount == 3 * (retryLimit + 1))
        }
    }
}

/// What a run sees of the failures of several services.
struct FailoverMeterTests {
    @Test func measuresTheLongestTimeWithoutAnAnswer() {
        let meter = FailoverMeter()
        for instant in [90, 150, 400, 390, 420, 1_200] as [UInt64] {
            meter.answered(at: instant, from: 100, until: 1_000)
        }
        #expect(meter.result(from: 100, until: 500).longestGap == 250)
        // The time until the end counts, too.
        #expect(meter.result(from: 100, until: 1_000).longestGap == 580)
        #expect(FailoverMeter().result(from: 100, until: 700).longestGap == 600)
    }

    @Test func countsTheChangesOfTheLeader() {
        let meter = FailoverMeter()
        for leader in [2, 2, 0, 0, 1, 2] { meter.found(leader: leader) }
        #expect(meter.result(from: 0, until: 1).leaderChangeCount == 3)
    }

    @Test func onlyTheReportOfSeveralServicesHasIt() throws {
        var report = try ReportTests().sample([])
        #expect(!report.json.contains("failover"))
        #expect(!TextReport(report).rendered().contains("longest gap"))
        report.failover = Failover(longestGap: 1_234_000_000, leaderChangeCount: 7)
        let json = report.json
        let line = "longest gap 1234 ms   changes of the leader 7"
        #expect(TextReport(report).rendered().contains(line))
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../docs/LOADGEN.md"),
            encoding: .utf8
        )
        for name in ["failover", "longest_gap_ms", "leader_changes"] {
            #expect(json.contains("\"\(name)\""))
            #expect(page.contains("`\(name)`"))
        }
        let again = try JSONDecoder().decode(RunReport.self, from: Data(json.utf8))
        #expect(again.failover == report.failover)
        var merged = MergedRuns([again, report]).result
        #expect(merged.failover == report.failover)
        merged.failover?.add(Failover(longestGap: 5, leaderChangeCount: 9))
        #expect(merged.failover == Failover(longestGap: 5, leaderChangeCount: 9))
    }
}
