import FeedClient
import FeedTestSupport
import Foundation
import LoadGen
import Testing

extension LiveTests {
    /// A run with `--retry` over a service that loses connections at chosen votes.
    @Suite struct RetryTests {
        private static let retrying = ["--retry", "50"]

        @Test(
            arguments: [
                ("before a vote counts", FakeFaults(loseBeforeEvery: 501)),
                ("after it counted", FakeFaults(loseAfterEvery: 501)),
                ("in the middle of its answer", FakeFaults(cutEvery: 501)),
                (
                    "at all of these",
                    FakeFaults(loseBeforeEvery: 397, loseAfterEvery: 501, cutEvery: 701)
                ),
                ("with the whole service", FakeFaults(dieAt: 3000, restarts: true)),
            ],
            ["1", "16", "256"]
        )
        func countsEveryVoteOnceThoughConnectionsAreLost(
            _ fault: (moment: String, faults: FakeFaults),
            _ pipeline: String
        ) async throws {
            let (service, result) = try await loadFake(
                fault.faults,
                shortLoad + Self.retrying + ["-P", pipeline]
            )
            try expectEveryVoteOnce(result)
            let retries = result.totals.retries
            #expect(retries.retryCount > 0)
            #expect(retries.reconnectCount > 0)
            let hasCounted = fault.faults.loseAfterEvery != nil || fault.faults.cutEvery != nil
            #expect(!hasCounted || retries.duplicateCount > 0)
            #expect(result.totals.outcomes.sent == 5000)
            #expect(service.feed.scores.reduce(0, +) == 5000)
            // Nothing behind a lost vote was executed, so nothing was executed twice.
            if fault.faults.loseBeforeEvery != nil, !hasCounted {
                #expect(retries.duplicateCount == 0)
            }
        }

        @Test func sendsAgainWhatTheServiceRefusesForNow() async throws {
            let result = try await loadFake(
                FakeFaults(failEvery: 100),
                shortLoad + Self.retrying + ["-P", "16"]
            ).result
            try expectEveryVoteOnce(result)
            #expect(result.totals.retries.retryCount >= 50)
            #expect(result.totals.retries.reconnectCount == 0)
            #expect(result.totals.outcomes.error == 0)
            #expect(result.totals.failures.serverErrors["RESOURCE_EXHAUSTED/OVERLOADED"] ?? 0 >= 50)
        }

        @Test func givesUpARequestThatIsRefusedEachTime() async throws {
            let service = try await FakeService.start(FakeFaults(failEvery: 1))
            let arguments = ["-n", "20", "-w", "0", "-c", "2", "--posts", "5", "--retry", "2"]
            let result = try await load(service, arguments)
            await service.stop()
            #expect(result.totals.outcomes.error == 20)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.retries.retryCount == 40)
            #expect(result.audit.isPassed)
        }

        @Test func asksAgainOnAnotherConnectionWhereNoAnswerComes() async throws {
            let service = try await FakeService.start(FakeFaults(silentEvery: 1001))
            let arguments = shortLoad + Self.retrying + ["--timeout", "100ms"]
            let result = try await load(service, arguments)
            await service.stop()
            try expectEveryVoteOnce(result)
            #expect(result.totals.failures.causes[.requestTimeout] ?? 0 > 0)
            #expect(result.totals.retries.duplicateCount > 0)
        }

        @Test func movesToANewConnectionWhereTheServiceSendsGoAway() async throws {
            let result = try await loadFake(
                FakeFaults(leaveAt: 2000),
                shortLoad + Self.retrying + ["-P", "16", "-c", "1"]
            ).result
            try expectEveryVoteOnce(result)
            #expect(result.totals.retries.reconnectCount == 1)
        }

        @Test func keepsToThePlanOfAnOpenLoop() async throws {
            let service = try await FakeService.start(FakeFaults(loseAfterEvery: 150))
            let arguments = ["-R", "500", "-d", "1s", "-w", "0", "-c", "4", "--posts", "10"]
            let result = try await load(service, arguments + Self.retrying)
            await service.stop()
            #expect(result.audit.isPassed)
            #expect(result.totals.outcomes.unknown == 0)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.retries.duplicateCount >= 2)
            #expect(result.exitStatus == .success)
        }

        @Test func createsEveryPostOnceThoughConnectionsAreLost() async throws {
            let faults = FakeFaults(loseAfterEvery: 400, loseCreateEvery: 31)
            let service = try await FakeService.start(faults)
            let mix = "vote=60,create=10,list=10,page=10,get=10"
            let result = try await load(
                service,
                shortLoad + Self.retrying + ["--mix", mix, "-P", "8"]
            )
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.createdPostCount > 0)
            #expect(summary.listedPostCount == 50 + summary.createdPostCount)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.exitStatus == .success)
        }

        @Test(arguments: [1, 40] as [UInt64])
        func preparesThroughTheServicesDeath(_ create: UInt64) async throws {
            let result = try await loadFake(
                FakeFaults(dieAtCreate: create, restarts: true),
                shortLoad + Self.retrying
            ).result
            try expectEveryVoteOnce(result)
            #expect(result.audit.summary?.listedPostCount == 50)
            #expect(result.totals.retries.duplicateCount >= 1)
        }

        private func expectEveryVoteOnce(_ result: RunReport) throws {
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == 5000)
            #expect(summary.countedVoteCount == 5000)
            #expect(summary.unknownVoteCount == 0)
            #expect(summary.exactPostCount == 50)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.lostConnectionCount == 0)
            #expect(result.exitStatus == .success)
        }
    }
}

extension LiveTests {
    /// The program against the service with its state on disk, killed and started again.
    @Suite struct DurableServiceTests {
        /// A service in a folder of its own, which a test kills and starts again.
        private struct Service {
            let process: RunningProcess
            let port: ReservedPort
            var address: String { port.address }

            static func start(
                _ directory: URL,
                at port: ReservedPort? = nil
            ) async throws -> Service {
                let port = try port ?? ReservedPort()
                let process = try RunningProcess(
                    Programs.feedService,
                    ["--listen", port.address, "--data-dir", directory.path(), "--threads", "2"]
                )
                try #require(
                    await process.prints("listening on \(port.address)"),
                    "the service ended without a start line: \(process.output)"
                )
                return Service(process: process, port: port)
            }

            /// Kills the service without a word.
            func kill() async {
                process.signal(9)
                _ = await process.exitStatus()
            }
        }

        private func withFolder(_ body: (URL) async throws -> Void) async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await body(folder)
        }

        /// Votes that take some seconds, so that a service can be killed among them.
        private static let steadyLoad = [
            "-R", "4k", "-c", "8", "-P", "16", "-w", "0", "--posts", "100", "--progress", "1s",
        ]

        /// Runs the program, kills the service once votes are counted, and starts it again.
        private func runThroughDeath(
            _ arguments: [String],
            in folder: URL
        ) async throws -> (Int32, [String]) {
            let state = folder.appending(path: "state")
            let service = try await Service.start(state)
            let program = try RunningProcess(
                Programs.loadGenerator,
                arguments + ["--target", service.address]
            )
            _ = await program.line { $0.contains("op/s") }
            await service.kill()
            let again = try await Service.start(state, at: service.port)
            let (status, output) = await program.finish()
            await again.kill()
            return (status, output)
        }

        @Test func countsEveryVoteOnceThoughTheServiceIsKilled() async throws {
            try await withFolder { folder in
                let (status, output) = try await runThroughDeath(
                    Self.steadyLoad + ["-d", "3s", "--retry", "100", "--mix", "vote=95,create=5"],
                    in: folder
                )
                #expect(status == 0, "\(output)")
                #expect(output.contains { $0.hasPrefix("Audit        PASS") })
                #expect(output.contains { $0.contains("retries ") }, "\(output)")
                #expect(!output.contains { $0.contains("reconnects 0") }, "\(output)")
            }
        }

        @Test func hasTheCountsOfAFileThoughTheServiceIsKilled() async throws {
            try await withFolder { folder in
                let file = folder.appending(path: "books.csv")
                let lines = (0..<400).map { "title \($0 % 7),\($0 % 50),\($0 % 3)" }
                try ("title,ups,downs\n" + lines.joined(separator: "\n") + "\n")
                    .write(to: file, atomically: true, encoding: .utf8)
                let flags = ["-R", "4k", "-c", "8", "-P", "16", "--progress", "1s"]
                let (status, output) = try await runThroughDeath(
                    ["dataset", file.path(), "--retry", "100"] + flags,
                    in: folder
                )
                #expect(status == 0, "\(output)")
                #expect(output.contains { $0.hasPrefix("Audit        PASS") })
                #expect(output.contains { $0.contains("400 of 400 posts exact") })
            }
        }

        @Test func auditsAKilledServiceAfterItsRestart() async throws {
            try await withFolder { folder in
                let state = folder.appending(path: "state")
                let report = folder.appending(path: "run.json").path()
                let service = try await Service.start(state)
                let run = try RunningProcess(
                    Programs.loadGenerator,
                    ["--target", service.address, "-d", "1h", "--json", report] + Self.steadyLoad
                )
                _ = await run.line { $0.contains("op/s") }
                await service.kill()
                #expect(await run.exitStatus() == 1)
                let again = try await Service.start(state, at: service.port)
                let (status, output) = try await verify(report, service.address)
                await again.kill()
                #expect(status == 0, "\(output)")
                #expect(output.contains { $0.hasPrefix("Audit        PASS") })
                #expect(output.contains { $0.contains("100 listed") })

                let empty = folder.appending(path: "empty")
                let fresh = try await Service.start(empty, at: service.port)
                let (failed, text) = try await verify(report, service.address)
                await fresh.kill()
                #expect(failed == 3)
                #expect(text.contains { $0.contains("another state") })
            }
        }

        private func verify(_ report: String, _ address: String) async throws -> (Int32, [String]) {
            try await RunningProcess(
                Programs.loadGenerator,
                ["--verify-only", report, "--target", address, "--retry", "20"]
            ).finish()
        }
    }
}

extension LiveTests {
    /// `--verify-only`: the record of an earlier run, against what the service has later.
    @Suite struct VerificationTests {
        @Test(arguments: [
            FakeFaults(), FakeFaults(dieAt: 3000), FakeFaults(failEvery: 700),
            FakeFaults(silentFrom: 4500),
        ])
        func auditsWhatARunKnewAgain(_ faults: FakeFaults) async throws {
            let service = try await FakeService.start(faults)
            let mix = ["--mix", "vote=90,create=10", "--timeout", "100ms"]
            let result = try await load(service, shortLoad + mix)
            await service.stop()
            let again = try await FakeService.start(serving: service.feed)
            let verified = try await verify(result, again)
            #expect(verified.audit.summary?.findings.examples == [])
            #expect(verified.audit.summary?.acknowledgedVoteCount ?? 0 > 1000)
            #expect(verified.exitStatus == .success)
            #expect(verified.record == result.record)
            if let summary = result.audit.summary { #expect(verified.audit.summary == summary) }
            let text = verified.verificationText("run.json")
            #expect(text.contains("Audit        PASS"))

            service.feed.loseOneVote()
            let short = try await verify(result, again)
            if faults.dieAt == nil, faults.silentFrom == nil {
                #expect(short.audit.summary?.findings.counts[.lostVote] == 1)
                #expect(short.exitStatus == .auditFailed)
            }
            await again.stop()
        }

        @Test func seesAVoteLostThatWasAcknowledgedBeforeTheServiceDied() async throws {
            let (service, result) = try await loadFake(
                FakeFaults(dieAt: 3000),
                shortLoad + ["-c", "1"]
            )
            #expect(result.exitStatus == .failed)
            let again = try await FakeService.start(serving: service.feed)
            // More than the one vote that nobody knows of.
            for _ in 0..<2 { service.feed.loseOneVote() }
            let verified = try await verify(result, again)
            await again.stop()
            #expect(verified.audit.summary?.acknowledgedVoteCount == 2999)
            #expect(verified.audit.summary?.unknownVoteCount == 1)
            #expect(verified.audit.summary?.findings.counts[.lostVote] ?? 0 >= 1)
            #expect(verified.exitStatus == .auditFailed)
        }

        @Test func recordsThePostsOfARunThatDiedBeforeItsLoad() async throws {
            let (service, result) = try await loadFake(
                FakeFaults(dieAtCreate: 150),
                shortLoad + ["--posts", "200"]
            )
            #expect(result.exitStatus == .failed)
            let record = try #require(result.record)
            // The fewer of the last answers came, the fewer posts were sent behind them.
            #expect((150...200).contains(record.postIDs.count + record.unknownTitles.count))
            #expect(!record.unknownTitles.isEmpty)
            let again = try await FakeService.start(serving: service.feed)
            let verified = try await verify(result, again)
            await again.stop()
            #expect(verified.audit.summary?.findings.examples == [])
            #expect(verified.audit.summary?.listedPostCount == 150)
            #expect(verified.exitStatus == .success)
        }

        @Test func failsWhereTheServiceHasAnotherState() async throws {
            let service = try await FakeService.start()
            let result = try await load(service, shortLoad)
            service.feed.beginAnew()
            let verified = try await verify(result, service)
            await service.stop()
            #expect(verified.audit.summary?.findings.counts == [.otherState: 1])
            #expect(verified.exitStatus == .auditFailed)
        }

        @Test func refusesAFileThatIsTornOrNoReport() async throws {
            let result = try await loadFake(FakeFaults(), shortLoad + ["-n", "100"]).result
            try await withReport(of: result) { path in
                let whole = try Data(contentsOf: URL(filePath: path))
                let cuts = stride(from: 0, to: whole.count - 2, by: 97).map { whole.prefix($0) }
                let foreign = ["[]", "{}", "{\"schema\": 1}", "{\"schema\": 2, \"record\": null}"]
                for bytes in cuts + foreign.map({ Data($0.utf8) }) {
                    try bytes.write(to: URL(filePath: path))
                    let failure = #expect(throws: RunFailure.self) {
                        try RunRecord(readingReport: path)
                    }
                    #expect(failure?.exitStatus == .usage)
                    #expect(failure?.description.hasPrefix("--verify-only: \(path): ") == true)
                }
            }
        }
    }
}
