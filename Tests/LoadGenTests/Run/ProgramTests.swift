import FeedTestSupport
import Foundation
import LoadGen
import Testing

extension LiveTests {
    @Suite struct ProgramTests {
        @Test func reportsWhenASignalEndsItEarly() async throws {
            let service = try await FakeService.start()
            let program = try RunningProcess(
                Programs.loadGenerator,
                [
                    "--target", "\(service.address)", "-d", "1h", "-w", "0", "-c", "2",
                    "--progress", "1s",
                ]
            )
            _ = await program.line { $0.contains("op/s") }
            program.signal(2)
            let (status, output) = await program.finish()
            await service.stop()
            #expect(status == 0)
            #expect(output.contains("  A signal ended the run early."))
            #expect(output.contains { $0.hasPrefix("Audit        PASS") })
        }

        @Test func writesItsFilesAlsoWhenTheServiceDied() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(dieAt: 500))
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let json = folder.appending(path: "run.json")
            let prefix = folder.appending(path: "run").path()
            let files = ["--json", json.path(), "--hdr", prefix]
            let program = try RunningProcess(
                Programs.loadGenerator,
                ["--target", "\(service.address)"] + shortLoad + files
            )
            let (status, _) = await program.finish()
            await service.stop()
            #expect(status == 1)
            let data = try Data(contentsOf: json)
            let root = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            let outcomes = try #require(root?["outcomes"] as? [String: Any])
            #expect(outcomes["conserved"] as? Bool == true)
            #expect((outcomes["lost"] as? Int ?? 0) > 0)
            #expect(FileManager.default.fileExists(atPath: prefix + ".vote.hgrm"))
            #expect(FileManager.default.fileExists(atPath: prefix + ".hlog"))
        }

        @Test(arguments: ["--json", "--html", "--hdr"])
        func refusesAFileThatCannotBeWrittenBeforeTheLoad(_ flag: String) async throws {
            let path = "/none/run"
            let program = try RunningProcess(Programs.loadGenerator, [flag, path])
            let (status, output) = await program.finish()
            #expect(status == 2)
            let file = path + (flag == "--hdr" ? ".vote.hgrm" : "")
            #expect(
                output == [
                    """
                    loadgen: \(flag): expected a file that can be written, got \(file) \
                    (No such file or directory).
                    """
                ]
            )
        }

        /// Each pair would lose a report, or what it is compared with, at the end of the load.
        @Test(arguments: [
            (["--json", "run", "--html", "./run"], "--html", "--json"),
            (["--json", "-", "--html", "/dev/stdout"], "--html", "--json"),
            (["--json", "run.hlog", "--hdr", "run"], "--hdr", "--json"),
            (["--json", "base.json", "--compare", "base.json"], "--json", "--compare"),
            (["--html", "base.json", "--compare", "base.json"], "--html", "--compare"),
            (["dataset", "posts.csv", "--json", "posts.csv"], "--json", "loadgen dataset"),
            (["report", "base.json", "--json", "base.json"], "--json", "loadgen report"),
        ])
        func refusesTwoUsesOfOneFile(
            _ arguments: [String],
            _ flag: String,
            _ owner: String
        ) async throws {
            let report = try ReportTests().sample().json
            let directory = try TemporaryDirectory()
            defer { withExtendedLifetime(directory) {} }
            for (name, text) in [("base.json", report), ("posts.csv", "title\nApple\n")] {
                let path = directory.path + "/" + name
                try text.write(toFile: path, atomically: true, encoding: .utf8)
            }
            let program = try shell("cd \"$0\" && exec \"$@\"", directory.path, arguments)
            let (status, output) = await program.finish()
            let kept = try String(contentsOfFile: directory.path + "/base.json", encoding: .utf8)
            #expect(kept == report)
            #expect(status == 2)
            let line = output.last ?? ""
            #expect(line.hasPrefix("loadgen: \(flag): expected a file of its own"), "\(output)")
            #expect(line.hasSuffix("which is that of \(owner)."), "\(output)")
        }

        /// The load, its figures and its end do not wait for the reader of the progress lines.
        @Test func runsThroughWhileNobodyReadsItsProgress() async throws {
            let service = try await FakeService.start()
            let directory = try TemporaryDirectory()
            defer { withExtendedLifetime(directory) {} }
            let program = try shell(
                Self.fullPipe + "exec timeout -k 1 60 \"$@\" 2>&3",
                directory.path + "/pipe",
                ["--target", "\(service.address)", "-d", "2500ms", "-w", "0", "--progress", "1s"]
            )
            let (status, output) = await program.finish()
            await service.stop()
            #expect(status == 0)
            #expect(output.contains { $0.hasPrefix("Audit        PASS") }, "\(output)")
        }

        @Test func endsAfterASignalWhileNobodyReadsItsReport() async throws {
            let service = try await FakeService.start()
            let directory = try TemporaryDirectory()
            defer { withExtendedLifetime(directory) {} }
            let program = try shell(
                Self.fullPipe + "exec \"$@\" >&3",
                directory.path + "/pipe",
                ["--target", "\(service.address)", "-d", "1h", "-w", "0", "--progress", "1s"]
            )
            _ = await program.line { $0.contains("op/s") }
            program.signal(15)
            let (status, output) = await program.finish()
            await service.stop()
            #expect(status == 1)
            #expect(output.last == "loadgen: The output was not read within 5s.", "\(output)")
        }

        /// Opens a pipe as descriptor 3, which nobody reads, and fills it.
        private static let fullPipe = "mkfifo $0; exec 3<>$0; head -c 65536 /dev/zero >&3; "

        /// A shell that executes a script; `$0` is `argument`, and `$@` the program with its flags.
        private func shell(
            _ script: String,
            _ argument: String,
            _ flags: [String]
        ) throws -> RunningProcess {
            try RunningProcess(
                URL(filePath: "/bin/sh"),
                ["-c", script, argument, Programs.loadGenerator.path()] + flags
            )
        }

        @Test func saysThatAFileCouldNotBeWrittenAndWritesTheOthers() async throws {
            let service = try await FakeService.start()
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            // Not the device itself, which a failure of this test must not replace.
            let full = folder.appending(path: "full").path()
            let page = folder.appending(path: "run.html").path()
            try FileManager.default.createSymbolicLink(
                atPath: full,
                withDestinationPath: "/dev/full"
            )
            let program = try RunningProcess(
                Programs.loadGenerator,
                ["--target", "\(service.address)"] + shortLoad + ["--json", full, "--html", page]
            )
            let (status, output) = await program.finish()
            await service.stop()
            #expect(status == 1)
            let sentence = "--json: \(full) could not be written: No space left on device."
            #expect(output.last == "loadgen: \(sentence)")
            #expect(FileManager.default.fileExists(atPath: page))
        }

        @Test("a report that nobody gets is a failure", arguments: [false, true])
        func saysThatStandardOutputIsFull(_ isHelp: Bool) async throws {
            let result = try ReportTests().sample()
            let (status, output) = try await withReport(of: result) { path in
                let arguments = isHelp ? "--help" : "report '\(path)'"
                let program = try RunningProcess(
                    URL(filePath: "/bin/sh"),
                    ["-c", "'\(Programs.loadGenerator.path())' \(arguments) > /dev/full"]
                )
                return await program.finish()
            }
            #expect(status == 1)
            #expect(
                output == [
                    "loadgen: Standard output could not be written: No space left on device."
                ]
            )
        }

        /// The first socket would get the number of the stream.
        @Test func runsWithClosedStreams() async throws {
            let service = try await FakeService.start()
            let program = Programs.loadGenerator.path()
            let flags = "--target \(service.address) \(shortLoad.joined(separator: " "))"
            let shell = try RunningProcess(
                URL(filePath: "/bin/sh"),
                ["-c", "\"\(program)\" \(flags) <&- >&- 2>&-; echo $?"]
            )
            let (status, output) = await shell.finish()
            await service.stop()
            #expect(status == 0)
            #expect(output == ["0"])
        }

        @Test func refusesAReportThatIsGivenTwice() async throws {
            let result = try ReportTests().sample()
            let (status, output) = try await withReport(of: result) { path in
                try await RunningProcess(Programs.loadGenerator, ["report", path, path]).finish()
            }
            #expect(status == 2)
            #expect(output.count == 1)
            #expect(output.first?.contains("The report is the same as that in") == true)
        }

        @Test func saysInOneLineThatNoServiceIsThere() async throws {
            let nobody = try ReservedPort()
            defer { withExtendedLifetime(nobody) {} }
            let program = try RunningProcess(Programs.loadGenerator, ["--target", nobody.address])
            let (status, output) = await program.finish()
            #expect(status == 1)
            #expect(output.count == 1)
            #expect(output.first?.hasPrefix("loadgen: No service can be reached at ") == true)
        }

        @Test(arguments: [
            ["--clients", "0"], ["--nonsense"], ["--clients"], ["--target", "host:70000"],
        ])
        func refusesWrongFlagsWithTwo(_ arguments: [String]) async throws {
            let program = try RunningProcess(Programs.loadGenerator, arguments)
            let (status, output) = await program.finish()
            #expect(status == 2)
            #expect(!output.isEmpty)
        }

        @Test func namesTheLimitsOfANumberBelowZero() async throws {
            let program = try RunningProcess(Programs.loadGenerator, ["--clients", "-1"])
            let (status, output) = await program.finish()
            #expect(status == 2)
            #expect(output == ["loadgen: --clients: expected 1 to 10000, got -1."])
        }

        @Test func advisesWhereTooFewFilesMayBeOpen() async throws {
            let program = try RunningProcess(
                URL(filePath: "/bin/sh"),
                ["-c", "ulimit -n 200; exec \"\(Programs.loadGenerator.path())\" --clients 500"]
            )
            let (status, output) = await program.finish()
            #expect(status == 1)
            #expect(output.first?.contains("run `ulimit -n 564`") == true)
        }
    }
}

/// The phases of a run, event by event, without a service.
@Suite struct RunMachineTests {
    /// A run of two threads.
    private static func machine(
        _ flags: [String] = [],
        isVerification: Bool = false
    ) throws -> RunMachine {
        let configuration = try configure(["--threads", "2", "--clients", "2"] + flags)
        return RunMachine(configuration, isVerification: isVerification)
    }

    private static let connected = RunEvent.connected(openedCount: 1, failures: Failures())

    /// The names of the actions after events, one list for each event.
    private static func actions(_ machine: inout RunMachine, _ events: [RunEvent]) -> [[String]] {
        events.map { event in machine.handle(event, at: 1_000).map(\.name) }
    }

    @Test func runsThroughItsPhases() throws {
        var machine = try Self.machine()
        let actions = Self.actions(
            &machine,
            [
                .prepared, Self.connected, Self.connected, .warmupEnded, .measuringEnded,
                .finished(endNanoseconds: 7), .finished(endNanoseconds: 9), .auditConnected,
                .audited(.skipped),
            ]
        )
        #expect(
            actions == [
                ["startThreads"], [], ["begin"], ["startMeasuring"], ["stopMeasuring"], [],
                ["endLoad 9", "audit"], [], ["finish skipped"],
            ]
        )
    }

    @Test func endsWithoutAnAuditWhereNoneIsAskedFor() throws {
        var machine = try Self.machine(["--no-verify"])
        let actions = Self.actions(
            &machine,
            [
                .prepared, Self.connected, Self.connected, .finished(endNanoseconds: 1),
                .finished(endNanoseconds: 2), .warmupEnded, .measuringEnded,
            ]
        )
        #expect(actions.dropFirst(3) == [[], ["endLoad 2", "finish skipped"], [], []])
    }

    @Test func mergesTheIntervalsOfItsThreads() throws {
        var machine = try Self.machine()
        let counts = IntervalCounts(
            answered: [1, 0, 0, 0, 0],
            latencies: LatencyScale.makeHistogram()
        )
        let actions = Self.actions(
            &machine,
            [
                .prepared, Self.connected, Self.connected, .warmupEnded,
                .interval(0, endNanoseconds: 5, counts), .interval(0, endNanoseconds: 6, counts),
                .interval(1, endNanoseconds: 8, counts), .finished(endNanoseconds: 8),
                .finished(endNanoseconds: 7),
            ]
        )
        #expect(
            actions.dropFirst(4) == [
                [], ["report 0 2 at 6"], [], [],
                ["report 1 1 at 8", "endLoad 8", "audit"],
            ]
        )
    }

    @Test func failsWhereNoConnectionOpens() throws {
        var machine = try Self.machine()
        var failures = Failures()
        failures.count(.refused)
        let event = RunEvent.connected(openedCount: 0, failures: failures)
        let actions = Self.actions(&machine, [.prepared, event, event])
        #expect(actions.last?.first?.contains("No connection of the load could be opened") == true)
    }

    @Test func endsBeforeItsLoadWithTheCauseAsItsAudit() throws {
        var machine = try Self.machine()
        let cause = RunFailure.connectionLost(step: "creating posts")
        #expect(Self.actions(&machine, [.endedEarly(cause)]) == [["finish impossible"]])
    }

    @Test func fallsToASignalBeforeItsLoad() throws {
        for events in [[], [RunEvent.prepared], [.prepared, Self.connected]] {
            var machine = try Self.machine()
            let actions = Self.actions(&machine, events + [.interrupted, .interrupted])
            #expect(actions.suffix(2) == [["fail \(RunFailure.interrupted)"], []])
        }
        var machine = try Self.machine(isVerification: true)
        let actions = Self.actions(&machine, [.auditConnected, .interrupted])
        #expect(actions == [[], ["fail \(RunFailure.interrupted)"]])
    }

    @Test func stopsSendingWithASignalAndAuditsNonetheless() throws {
        for events in [[], [RunEvent.warmupEnded], [.warmupEnded, .measuringEnded]] {
            var machine = try Self.machine()
            let begin: [RunEvent] = [.prepared, Self.connected, Self.connected]
            let ends: [RunEvent] = [.finished(endNanoseconds: 1), .finished(endNanoseconds: 1)]
            let actions = Self.actions(&machine, begin + events + [.interrupted] + ends)
            #expect(actions.suffix(3) == [["stopSending"], [], ["endLoad 1", "audit"]])
            #expect(Self.actions(&machine, [.interrupted]) == [["cancelAudit"]])
            #expect(
                Self.actions(&machine, [.auditConnected, .interrupted])
                    == [[], ["cancelAuditIfLost"]]
            )
            #expect(Self.actions(&machine, [.interrupted]) == [["cancelAudit"]])
        }
    }
}

extension RunAction {
    /// The action and the part of its value that tests look at.
    fileprivate var name: String {
        switch self {
        case .startThreads: "startThreads"
        case .begin: "begin"
        case .startMeasuring: "startMeasuring"
        case .stopMeasuring: "stopMeasuring"
        case .stopSending: "stopSending"
        case .report(let interval):
            "report \(interval.number) \(interval.counts.answered[0]) at \(interval.endNanoseconds)"
        case .endLoad(let end): "endLoad \(end)"
        case .audit: "audit"
        case .cancelAudit: "cancelAudit"
        case .cancelAuditIfLost: "cancelAuditIfLost"
        case .finish(.skipped): "finish skipped"
        case .finish(.impossible): "finish impossible"
        case .finish(.done): "finish done"
        case .fail(let failure): "fail \(failure)"
        }
    }
}
