import FeedTestSupport
import Foundation
import LoadGen
import LoadGenCommand
import Testing

extension LiveTests {
    /// Two servers that are measured in turns.
    @Suite struct SideBySideRunTests {
        @Test func measuresBothInTurnsAndAuditsAllOfIt() async throws {
            let one = try await FakeService.start()
            let other = try await FakeRedis.start()
            let result = try await compare(
                "\(one.address)",
                "\(other.address)",
                ["--ab-protocol", "resp", "--rounds", "6", "--aa", "6"]
            )
            let scores = one.feed.scores.reduce(0, +)
            await one.stop()
            await other.stop()
            #expect(result.comparedPairs.count == 6 && result.controlPairs.count == 6)
            #expect(result.comparedPairs.count { $0.pair == .firstA } == 3)
            let ratio = try #require(result.ratio(.throughput))
            #expect(ratio.low <= ratio.ratio && ratio.ratio <= ratio.high)
            #expect(result.control(.throughput) != nil)
            #expect(result.exitStatus == .success)
            let (a, b) = try (#require(result.audits.a.summary), #require(result.audits.b.summary))
            #expect(a.findings.examples == [] && b.findings.examples == [])
            // Slices, settling and warm-up together, on the same 50 posts.
            #expect(a.countedVoteCount == scores && Int64(a.acknowledgedVoteCount) == scores)
            #expect(a.exactPostCount == 50 && b.exactPostCount == 50)
            let json = result.json
            let root = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
            let pairs = (root?["ab"] as? [String: Any])?["pairs"] as? [Any]
            #expect(pairs?.count == 12)
            let text = SideBySideText(result).rendered()
            #expect(text.contains("6 of 6 pairs, 6 of 6 pairs A/A, slices of 100ms after 10ms"))
        }

        @Test func failsWhereOneServerCountsWrong() async throws {
            let one = try await FakeRedis.start()
            let other = try await FakeRedis.start(FakeRedis.Faults(dropEvery: 1000))
            let result = try await compare(
                "\(one.address)",
                "\(other.address)",
                ["--protocol", "resp", "--rounds", "6", "--aa", "0"]
            )
            await one.stop()
            await other.stop()
            #expect(result.audits.a.isPassed && result.audits.b.isFailed)
            #expect(result.exitStatus == .auditFailed)
        }

        // Figures, for a machine that nobody else uses.

        @Test(.enabled(if: isQuiet, "FEED_QUIET_MACHINE is not set"))
        func callsAServerSlowerThatTakesTwiceAsMuch() async throws {
            let result = try await comparePythons(again: 1)
            #expect(result.judgement(.serverCost) == .slower)
        }

        @Test(.enabled(if: isQuiet, "FEED_QUIET_MACHINE is not set"))
        func callsAServerSlowerThatTakesATenthMore() async throws {
            let result = try await comparePythons(again: 10, rounds: "200")
            let ratio = try #require(result.ratio(.serverCost))
            #expect(result.judgement(.serverCost) == .slower, "\(ratio)")
        }

        @Test(.enabled(if: isQuiet, "FEED_QUIET_MACHINE is not set"))
        func findsNoDifferenceOfThreePercentInEqualServers() async throws {
            let result = try await comparePythons(again: 0, rounds: "200")
            let ratio = try #require(result.ratio(.serverCost))
            #expect(abs(ratio.ratio - 1) < 0.03, "\(ratio)")
        }

        private static let isQuiet =
            TestEnvironment.number("FEED_QUIET_MACHINE") != nil && PythonRedis.isAvailable

        /// Compares a server with one that handles one vote in `again` twice.
        private func comparePythons(
            again: Int,
            rounds: String = "6"
        ) async throws -> SideBySideResult {
            let one = try await PythonRedis()
            let other = try await PythonRedis(again: again)
            let result = try await compare(
                one.target,
                other.target,
                [
                    "--protocol", "resp", "--rounds", rounds, "--aa", "0", "--slice", "100ms", "-P",
                    "8",
                ]
            )
            await one.stop()
            await other.stop()
            return result
        }

        /// Compares two servers in short slices; no pair is repeated, as tests share the machine.
        private func compare(
            _ a: String,
            _ b: String,
            _ arguments: [String]
        ) async throws -> SideBySideResult {
            let common = ["--slice", "100ms", "-w", "50ms", "--clients", "8", "--posts", "50"]
            let options = try Options.reading(["--target", a, "--ab", b] + common + arguments)
            let configuration = try RunConfiguration(options, coreCount: 2, isTerminal: false)
            var comparison = try #require(try SideBySideConfiguration(options, configuration))
            comparison.settle = .milliseconds(10)
            comparison.repeatLimit = 0
            return try await offload { [comparison] in
                try SideBySideRun(configuration, comparison).execute()
            }
        }
    }
}
