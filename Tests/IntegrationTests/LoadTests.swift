import FeedTestSupport
import Testing

/// The load generator against the service: its reports are true, and its audit passes.
///
/// LoadGenTests check that the audit fails for a service that counts wrong.
///
/// One at a time: a run with 500 clients wants the machine for itself.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct LoadTests {
    /// Flags of a run.
    struct Run: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var flags: [String]
        /// The most votes that may have no answer yet when the sending ends.
        var inFlightCount = 500
    }

    static let runs = [
        Run(testDescription: "closed loop, 1 in flight", flags: []),
        Run(
            testDescription: "closed loop, 64 in flight",
            flags: ["--pipeline", "64"],
            inFlightCount: 32_000
        ),
        Run(
            testDescription: "batches of 256",
            flags: ["--batch", "256", "--clients", "50"],
            inFlightCount: 12_800
        ),
        Run(
            testDescription: "batches of 256, sent again",
            flags: ["--batch", "256", "--clients", "50", "--pipeline", "4", "--retry", "10"],
            // Retries wait until each request is answered.
            inFlightCount: 0
        ),
        Run(testDescription: "open loop", flags: ["--rate", "20k"]),
        Run(
            testDescription: "votes, pages and creations",
            flags: ["--mix", "vote=90,list=9,create=1"]
        ),
    ]

    static func load(_ port: UInt16, _ flags: [String]) async throws -> (Int32, [String]) {
        let process = try RunningProcess(
            Programs.loadGenerator,
            ["--target", "127.0.0.1:\(port)", "--clients", "500", "--warmup", "500ms"]
                + ["--duration", "2s", "--timeout", "20s"] + flags
        )
        let (status, output) = await process.finish()
        return (status, output)
    }

    @Test(arguments: runs)
    func countsEveryVoteOnce(_ run: Run) async throws {
        let service = try await ServiceProcess.start()
        let (status, output) = try await Self.load(service.port, run.flags)
        #expect(status == 0, "\(output.joined(separator: "\n"))")
        #expect(output.contains { $0.contains("Audit") && $0.contains("PASS") })
        // A run calls answers lost that come more than a second after the sending ended. On a busy
        // machine that second may be too short for the votes that were in flight then.
        let pattern = /error 0 \+ timeout 0 \+ lost ([\d,]+)/
        let outcomes = output.compactMap { $0.firstMatch(of: pattern) }
        let lostCount = try #require(outcomes.first, "\(output.joined(separator: "\n"))").1
        #expect(Int(lostCount.replacing(",", with: "")) ?? .max <= run.inFlightCount)
        #expect(await service.stop() == 0)
    }

    @Test("T-RUN-5: a service that is told to stop under load exits with 0")
    func stopsUnderLoad() async throws {
        let service = try await ServiceProcess.start()
        let load = try RunningProcess(
            Programs.loadGenerator,
            ["--target", "127.0.0.1:\(service.port)", "--clients", "500", "--pipeline", "16"]
                + ["--duration", "30s", "--progress", "1s"]
        )
        // The run is in its middle once it has reported some progress.
        _ = await load.line { $0.contains("p50") }
        #expect(await service.stop() == 0)
        let (status, output) = await load.finish()
        #expect(status == 1, "\(output.joined(separator: "\n"))")
    }
}
