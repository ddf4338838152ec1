import FeedTestSupport
import Foundation
import Testing

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
