import FeedTestSupport
import LoadGen
import Testing

extension LiveTests {
    /// Connections that are closed and opened again, and clients that wait.
    @Suite struct ChurnTests {
        @Test(arguments: [
            [], ["--retry", "3"], ["-R", "20k"], ["-P", "8"], ["-P", "8", "--batch", "4"],
            ["-P", "8", "--pipeline-mode", "batch"], ["--threads", "2"],
        ])
        func opensConnectionsAgainAfterTheirRequests(_ flags: [String]) async throws {
            let service = try await FakeService.start()
            let result = try await load(
                service,
                shortLoad + ["--reconnect-every", "50"] + flags
            )
            await service.stop()
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
