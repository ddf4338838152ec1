import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Service keys in the life of an operator: made, shown, rotated and mistyped.
@Suite(.timeLimit(.minutes(10))) struct ServiceKeyFileDaysTests {
    @Test("T-KEY-3: SIGHUP reads the keys again, and a wrong file changes nothing")
    func aHangUpReadsTheKeysAgain() async throws {
        let directory = try TemporaryDirectory()
        try await Self.makeKey("web", in: directory)
        let keys = "\(directory.path)/keys"
        let service = try await ServiceProcess.start(["--service-keys", keys])
        #expect(try await Self.isService("web", in: directory, service) == true)
        try await Self.makeKey("web-next", in: directory)
        #expect(try await Self.isService("web-next", in: directory, service) == nil)

        service.process.signal(SIGHUP)
        #expect(await service.process.prints("2 service keys are valid: web, web-next"))
        #expect(try await Self.isService("web", in: directory, service) == true)
        #expect(try await Self.isService("web-next", in: directory, service) == true)

        let lines = Self.keys(in: directory)
        try Self.write(["web-next blake2b:0"], in: directory)
        service.process.signal(SIGHUP)
        #expect(await service.process.prints("the service keys stay as they were"))
        #expect(try await Self.isService("web", in: directory, service) == true)

        try Self.write([lines[1]], in: directory)
        service.process.signal(SIGHUP)
        #expect(await service.process.prints("1 service key is valid: web-next"))
        #expect(try await Self.isService("web", in: directory, service) == nil)
        #expect(try await Self.isService("web-next", in: directory, service) == true)
        #expect(await service.stop() == 0)
    }

    @Test("T-KEY-5: SIGHUP without service keys is a line in the log, and no end")
    func aHangUpWithoutKeysChangesNothing() async throws {
        let service = try await ServiceProcess.start()
        service.process.signal(SIGHUP)
        #expect(await service.process.prints("there is no --service-keys: nothing has changed"))
        let client = try await FeedClient.connect(to: "127.0.0.1:\(service.port)")
        #expect(try await client.createPost(PostDraft(title: "Apple")).id > 0)
        await client.close()
        #expect(await service.stop() == 0)
    }

    @Test("T-KEY-5: SIGHUP waits until the service listens")
    func aHangUpWaitsForTheStart() async throws {
        let directory = try TemporaryDirectory()
        // A start says first of all that few files may be open; then it makes its data directory.
        let process = try RunningProcess(
            URL(filePath: "/bin/sh"),
            [
                "-c", "ulimit -n 200; exec \"$@\"", "sh", Programs.feedService.path,
                "--data-dir", "\(directory.path)/data", "--listen", "127.0.0.1:0",
                "--threads", "2",
            ]
        )
        try #require(await process.prints("the limit of open files is 200"))
        process.signal(SIGHUP)
        #expect(await process.prints("listening on"), "\(process.output)")
        #expect(await process.prints("there is no --service-keys: nothing has changed"))
        process.signal(SIGTERM)
        #expect(await process.exitStatus() == 0)
    }

    @Test("T-KEY-4: a start refuses a file of keys that others may read")
    func aStartRefusesAnOpenFile() async throws {
        let directory = try TemporaryDirectory()
        try await Self.makeKey("web", in: directory)
        let path = "\(directory.path)/keys"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let process = try RunningProcess(
            Programs.feedService,
            ["--in-memory", "--listen", "127.0.0.1:0", "--service-keys", path]
        )
        let (status, output) = await process.finish()
        #expect(status == 2)
        let complaint = "--service-keys: \(path) has the mode 644"
        #expect(output.contains { $0.contains(complaint) }, "\(output)")
    }

    @Test func aKeyIsWrittenForItsOwnerAloneAndReplacesNoFile() async throws {
        let directory = try TemporaryDirectory()
        try await Self.makeKey("web", in: directory)
        let path = "\(directory.path)/web.key"
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let again = try RunningProcess(Programs.feedService, ["new-service-key", "web", path])
        let (status, output) = await again.finish()
        #expect(status == 2)
        #expect(output.contains { $0.contains("File exists") }, "\(output)")
        for name in ["a b", "", "wéb"] {
            let bad = try RunningProcess(
                Programs.feedService,
                ["new-service-key", name, "\(directory.path)/bad.key"]
            )
            #expect(await bad.finish().status == 2)
        }
        let bad = try RunningProcess(
            Programs.feedService,
            ["new-service-key", "nightly", "\(directory.path)/bad.key", "--role", "root"]
        )
        let (badStatus, badOutput) = await bad.finish()
        #expect(badStatus == 2)
        #expect(badOutput.contains { $0.contains("--role: expected one of") }, "\(badOutput)")
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/bad.key"))
    }

    @Test("T-KEY-6: a backup and a drain take the key of an operator")
    func anOperatorBacksUpAndDrains() async throws {
        let directory = try TemporaryDirectory()
        try await Self.makeKey("web", in: directory)
        try await Self.makeKey("nightly", role: "operator", in: directory)
        let arguments = ["--service-keys", "\(directory.path)/keys"]
        let service = try await DurableService.start("\(directory.path)/data", arguments)
        let target = ["backup", "--target", "127.0.0.1:\(service.port)", "--service-key-file"]
        let refused = try await FeedCtlTests.run(target + ["\(directory.path)/web.key"])
        #expect(refused.status == 1)
        #expect(refused.output.contains("PERMISSION_DENIED / ROLE_DENIED"), "\(refused.output)")
        let made = try await FeedCtlTests.run(target + ["\(directory.path)/nightly.key"])
        #expect(made.status == 0, "\(made.output)")

        let drain = ["drain"] + target.dropFirst()
        let kept = try await FeedCtlTests.run(drain + ["\(directory.path)/web.key"])
        #expect(kept.output.contains("PERMISSION_DENIED / ROLE_DENIED"), "\(kept.output)")
        let stopped = try await FeedCtlTests.run(drain + ["\(directory.path)/nightly.key"])
        #expect(stopped.status == 0, "\(stopped.output)")
        #expect(await service.process.prints("draining, as an operator has asked"))
        #expect(await service.process.exitStatus() == 0)
    }

    @Test("T-KEY-6: the level of the log takes the key of an operator")
    func anOperatorSetsTheLevelOfTheLog() async throws {
        let directory = try TemporaryDirectory()
        try await Self.makeKey("web", in: directory)
        try await Self.makeKey("person", role: "operator", in: directory)
        let service = try await ServiceProcess.start(["--service-keys", "\(directory.path)/keys"])
        func set(_ level: String, _ key: String) async throws -> String {
            let flags = ["--target", "127.0.0.1:\(service.port)", "--service-key-file"]
            return try await FeedCtlTests.run(
                ["log-level", level] + flags + ["\(directory.path)/\(key).key"]
            ).output
        }
        let line = "An operator: the log has lines of the level"
        #expect(try await set("debug", "web").contains("PERMISSION_DENIED / ROLE_DENIED"))
        #expect(try await set("loud", "person").contains("INVALID_ARGUMENT / BAD_FIELD"))
        #expect(!service.process.output.contains { $0.contains(line) })
        #expect(try await set("debug", "person").contains("level debug and above"))
        #expect(await service.process.prints("\(line) debug and above from now on"))
        // The refusal is a line of the level debug.
        #expect(try await set("loud", "person").contains("INVALID_ARGUMENT / BAD_FIELD"))
        #expect(await service.process.prints("refused set_log_level from 127.0.0.1: BAD_FIELD"))
        #expect(try await set("warning", "person").contains("level warning and above"))
        #expect(await service.process.prints("\(line) warning and above from now on"))
        #expect(await service.stop() == 0)
        #expect(service.process.output.last?.contains("\(line) warning") == true)
    }

    /// Makes a key and adds its line to the file of keys.
    private static func makeKey(
        _ name: String,
        role: String = "service",
        in directory: TemporaryDirectory
    ) async throws {
        let process = try RunningProcess(
            Programs.feedService,
            ["new-service-key", name, "\(directory.path)/\(name).key", "--role", role]
        )
        let (status, output) = await process.finish()
        #expect(status == 0, "\(output)")
        let lines = output.filter { $0.hasPrefix("\(name) blake2b:") }
        try #require(lines.count == 1, "\(output)")
        try write(keys(in: directory) + lines, in: directory)
    }

    private static func keys(in directory: TemporaryDirectory) -> [String] {
        let text = try? String(contentsOfFile: "\(directory.path)/keys", encoding: .utf8)
        return text?.split(separator: "\n").map(String.init) ?? []
    }

    private static func write(_ lines: [String], in directory: TemporaryDirectory) throws {
        let path = "\(directory.path)/keys"
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// Whether a key makes its program a service; nil where the service does not know it.
    private static func isService(
        _ name: String,
        in directory: TemporaryDirectory,
        _ service: ServiceProcess
    ) async throws -> Bool? {
        var configuration = ClientConfiguration()
        configuration.serviceKey = Secret(file: "\(directory.path)/\(name).key")
        try #require(configuration.serviceKey != nil)
        do {
            let client = try await FeedClient.connect(
                to: "127.0.0.1:\(service.port)",
                configuration: configuration
            )
            let times = try? await client.correctTimes(CorrectTimesRequest())
            await client.close()
            return times != nil
        } catch {
            guard case .refused(let status) = error, status.reason == .badCredentials else {
                throw error
            }
            return nil
        }
    }
}

/// The flags of the limits of keys and hosts, and what FeedClient makes of the answers.
@Suite(.timeLimit(.minutes(10))) struct IdentityLimitDaysTests {
    @Test("T-LIMIT-1: FeedClient waits as long as it is told, and each vote counts once")
    func aClientWaitsAsLongAsItIsTold() async throws {
        let service = try await ServiceProcess.start([
            "--limit-loopback", "--max-votes-per-second", "50",
        ])
        var configuration = ClientConfiguration()
        configuration.clientID = ClientID()
        let client = try await FeedClient.connect(
            to: "127.0.0.1:\(service.port)",
            configuration: configuration
        )
        let post = try await client.createPost(PostDraft(title: "Apple")).id
        let began = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try await client.vote(on: post, .up) } }
            try await group.waitForAll()
        }
        // 50 at once; the others one after another, 20 ms apart.
        #expect(ContinuousClock.now - began >= .milliseconds(950))
        #expect(try await client.getPost(post).score == 100)
        await client.close()
        #expect(await service.stop() == 0)
    }

    @Test(
        "a limit that is no number, or out of range, is refused by name",
        arguments: [
            ["--max-votes-per-second", "-1"], ["--max-calls-per-second", "many"],
            ["--max-connections-each", "10000001"], ["--max-new-channels-per-minute", "0"],
            ["--max-new-devices-per-minute", "0.5"], ["--posts-from", "devices"],
            ["--max-posts-per-hour", "host=-1"], ["--max-posts-per-hour", "hosts=1"],
            ["--max-post-bytes-per-hour", "user=1KiB"], ["--max-post-memory", "4 GB"],
        ]
    )
    func refusesWrongLimits(flags: [String]) async throws {
        let process = try RunningProcess(
            Programs.feedService,
            ["--in-memory", "--listen", "127.0.0.1:0"] + flags
        )
        let (status, output) = await process.finish()
        #expect(status == 2)
        #expect(output.contains { $0.contains("\(flags[0]): expected ") }, "\(output)")
    }
}
