import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// What the service says to bad flags, and on a good start.
@Suite(.timeLimit(.minutes(10))) struct CommandLineTests {
    static let badFlags: [([String], String)] = [
        (["--bogus"], "Unknown option '--bogus'"),
        (["--listen", "0.0.0.0:0"], "is not a loopback address"),
        (["--listen", "[::]:0"], "is not a loopback address"),
        (["--listen", "127.0.0.1"], "--listen:"),
        (["--listen", "127.0.0.1:70000"], "--listen:"),
        (
            ["--listen-tls", "127.0.0.1:0"],
            "--tls-cert: --listen-tls needs a file, and none was given."
        ),
        (
            ["--tls-key", "server.key"],
            "--tls-key: expected --listen-tls or --admin-tls with it, got server.key "
                + "alone."
        ),
        (
            [
                "--listen-tls", "127.0.0.1:0", "--tls-cert", "/nowhere.pem", "--tls-key",
                "/nowhere.key",
            ],
            "--listen-tls: /nowhere.pem cannot be read: there is no such file."
        ),
        (
            ["--proxy-protocol-from", "10.0.0.1/8", "--insecure"],
            "--proxy-protocol-from: \"10.0.0.1/8\" is not an address: the network of 8 "
                + "bits begins at 10.0.0.0."
        ),
        (
            ["--proxy-protocol-from", "10.0.0.0/8"],
            "--proxy-protocol-from: clients behind a proxy may be anybody"
        ),
        (["--threads", "0"], "--threads: expected 1 to 256, got 0."),
        (["--stripes", "3"], "--stripes: expected a power of two from 1 to 4096, got 3."),
        (["--threads", "many"], "--threads: expected 1 to 256, got many."),
        (["--threads", "-1"], "--threads: expected 1 to 256, got -1."),
        (["--threads", "257"], "--threads: expected 1 to 256, got 257."),
        (["--stripes", "-1"], "--stripes: expected a power of two from 1 to 4096, got -1."),
        (["--durability", "some"], "--durability: expected fsync or os, got some."),
        (["--data-dir", ""], "--data-dir: expected a directory, got an empty text."),
        (["--listen", "127.0.0.1:0", "--data-dir", "/nowhere/data"], "/nowhere"),
        (["--accept-data-loss", "all"], "--accept-data-loss"),
        (
            ["--accept-data-loss", "-1"],
            "The value '-1' is invalid for '--accept-data-loss <record>'"
        ),
        (["--keep-backups", "-1"], "--keep-backups: expected 1 to 10000, got -1."),
        (
            ["--backup-every", "30s"],
            "--backup-every: expected 1m to 366d, as 90m, 1h or 7d, got 30s."
        ),
        (
            ["--backup-every", "1h", "--backup-keep", "7d"],
            "--backup-keep: expected how many of the newest, 1 to 10000, and after "
                + "it days or weeks, as 24,7d,4w; got 7d."
        ),
        (["--backup-keep", "24"], "--backup-keep: expected --backup-every with it."),
        (
            ["--journal-keep", "-1h"],
            "--journal-keep: expected 1m to 366d, as 90m, 1h or 7d, got -1h."
        ),
        (
            ["--in-memory", "--journal-keep", "24h"],
            "--journal-keep: --in-memory keeps nothing, and goes without it; got 24h."
        ),
        (
            ["--in-memory", "--data-dir", "feed"],
            "--data-dir: --in-memory keeps nothing, and goes without it; got feed."
        ),
        (
            ["--in-memory", "--accept-data-loss", "7"],
            "--accept-data-loss: --in-memory keeps nothing"
        ),
        (["--durability", "replicated"], "--durability: expected fsync or os, got replicated."),
        (
            ["--in-memory", "--replica", "r.sock"],
            "--replica: --in-memory keeps nothing, and goes without it; got r.sock."
        ),
        (["--replica", ""], "--replica: expected the path of a socket, 1 to 107 bytes, got 0."),
        (["--replica", "r.sock"], "--advertise: --replica needs an address, and none was given."),
        (
            ["--advertise", "a.example:7433"],
            "--advertise: expected --replica with it, got a.example:7433 alone."
        ),
        (
            ["--max-staleness", "1s"],
            "--max-staleness: expected --replica with it, got 1s alone."
        ),
        (
            ["--replica", "r.sock", "--advertise", "a.example"],
            "--advertise: expected a host and a port from 1 to 65535, as "
                + "feed1.example.org:7433, got a.example."
        ),
        (
            ["--replica", "r.sock", "--advertise", "a.example:7433", "--max-staleness", "-1s"],
            "--max-staleness: expected 100ms to 1h, as 500ms, 2s or 1m, got -1s."
        ),
        (
            ["--replica", "r.sock", "--advertise", "a.example:7433", "--durability", "os"],
            "--durability: a majority of the cluster has what is answered, and --replica goes "
                + "without it; got os."
        ),
        (
            ["--replica", "r.sock", "--advertise", "a.example:7433", "--threads", "65"],
            "--threads: expected 1 to 64 with --replica, got 65."
        ),
        (
            ["--replica", "r.sock", "--advertise", "a.example:7433", "--sample-data"],
            "--sample-data: a service with --replica has what the cluster's log has, and no posts "
                + "of its own."
        ),
        (["verify"], "Missing expected argument '<directory>'"),
        (["verify", "/nowhere"], "/nowhere"),
        (["restore", "/nowhere"], "Missing expected argument"),
    ]

    @Test("T-RUN-1: one clear sentence for a bad flag, and no start", arguments: badFlags)
    func refusesBadFlags(_ arguments: [String], _ complaint: String) async throws {
        let process = try RunningProcess(Programs.feedService, arguments)
        let (status, output) = await process.finish()
        #expect(status == 2)
        #expect(output.contains { $0.contains(complaint) }, "\(output)")
        #expect(!output.contains { $0.contains("listening on") })
    }

    @Test("says that an address is in use")
    func refusesAnAddressInUse() async throws {
        let service = try await ServiceProcess.start()
        let second = try RunningProcess(
            Programs.feedService,
            ["--listen", "127.0.0.1:\(service.port)", "--in-memory"]
        )
        let (status, output) = await second.finish()
        #expect(status == 1)
        #expect(output.contains { $0.contains("127.0.0.1:\(service.port) is in use") }, "\(output)")
        #expect(await service.stop() == 0)
    }

    /// Each stack is to be larger than the addresses of a process, so the system refuses each thread.
    @Test("says that the system refuses a thread", arguments: [true, false])
    func refusesToRunWithoutThreads(isDurable: Bool) async throws {
        let directory = try TemporaryDirectory()
        let process = try RunningProcess(
            URL(filePath: "/bin/sh"),
            [
                "-c", "ulimit -s 1099511627776 && exec \"$@\"", "sh", Programs.feedService.path,
                "--listen", "127.0.0.1:0",
            ] + (isDurable ? ["--data-dir", directory.path] : ["--in-memory"])
        )
        let (status, output) = await process.finish()
        #expect(status == 1, "\(output)")
        let words = "does not start the thread feed-"
        #expect(output.contains { $0.contains(words) }, "\(output)")
        #expect(!output.contains { $0.contains("listening on") })
    }

    @Test("T-RUN-2: says version, address, threads, stripes and durability on one line")
    func printsOneStartLine() async throws {
        let service = try await ServiceProcess.start(["--threads", "2", "--stripes", "32"])
        let line = try #require(service.process.output.first { $0.contains("listening on") })
        #expect(line.contains("feed-service 0."))
        #expect(line.contains("127.0.0.1:\(service.port)"))
        #expect(line.contains("threads 2 ("))
        #expect(line.contains(" cores), stripes 32"))
        #expect(line.contains("durability none"))
        #expect(await service.stop() == 0)
        #expect(service.process.output.count { $0.contains("listening") } == 1)
    }

    @Test("T-CONN-3: a client that resets in the middle of its answers does not end the process")
    func survivesBrokenPipes() async throws {
        let service = try await ServiceProcess.start()
        try await offload { [port = service.port] in
            for _ in 0..<20 {
                let client = try WireClient(port: port)
                for _ in 0..<500 { try client.send(.getServerStats) }
                client.socket.reset()
            }
            #expect(try WireClient(port: port).call(.getServerStats).status == nil)
        }
        #expect(await service.stop() == 0)
    }

    @Test("listens on several addresses, of both families")
    func listensOnSeveralAddresses() async throws {
        let service = try await ServiceProcess.start(["--listen", "[::1]:0"])
        let line = try #require(service.process.output.first { $0.contains("listening on") })
        #expect(line.contains("[::1]:"))
        #expect(await service.stop() == 0)
    }

    @Test("listens on the IPv4 address of an IPv4-mapped one")
    func listensOnAMappedAddress() async throws {
        let service = try await ServiceProcess.start(["--listen", "[::ffff:127.0.0.1]:0"])
        let line = try #require(service.process.output.first { $0.contains("listening on") })
        #expect(line.contains(#/listening on 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+:/#), "\(line)")
        #expect(await service.stop() == 0)
    }

    @Test("a durable service starts with more loops than any machine of today has cores for")
    func startsWithManyLoops() async throws {
        let directory = try TemporaryDirectory()
        let flags = ["--listen", "127.0.0.1:0", "--data-dir", directory.path]
        let process = try RunningProcess(Programs.feedService, flags + ["--threads", "128"])
        let line = await process.line { $0.contains("listening on") }
        #expect(line?.contains("threads 128 (") == true, "\(process.output)")
        process.signal(15)
        #expect(await process.exitStatus() == 0)
    }

    /// Runs the service where it may open few files; it ends by itself, or is stopped.
    private static func output(openFiles: Int) async throws -> (Int32, [String]) {
        let program = Programs.feedService.path()
        let process = try RunningProcess(
            URL(filePath: "/bin/sh"),
            [
                "-c",
                "ulimit -n \(openFiles); exec \"\(program)\" --in-memory --listen 127.0.0.1:0 "
                    + "--threads 2",
            ]
        )
        if await process.line(where: { $0.contains("listening on") }) != nil { process.signal(15) }
        return (await process.exitStatus(), process.output)
    }

    @Test("too few files for one connection: words and exit code 2", arguments: [5, 20, 72])
    func refusesToServeNobody(openFiles: Int) async throws {
        let (status, output) = try await Self.output(openFiles: openFiles)
        #expect(status == 2)
        #expect(
            output == [
                "feed-service: The limit of open files is \(openFiles), and with --threads 2 the "
                    + "service needs 73 to serve one connection: raise the limit with "
                    + "`ulimit -n 10072`, which is enough for 10000 connections."
            ]
        )
    }

    @Test("fewer files than connections: a warning before the start", arguments: [73, 500])
    func warnsOfFewConnections(openFiles: Int) async throws {
        let (status, output) = try await Self.output(openFiles: openFiles)
        #expect(status == 0)
        let warning =
            "the limit of open files is \(openFiles) and the service itself needs 72 of them: at "
            + "most \(openFiles - 72) connections are accepted, not 10000; for all of them raise it "
            + "with `ulimit -n 10072`"
        #expect(output.first?.hasSuffix(warning) == true, "\(output)")
        #expect(output.first?.contains("warning") == true)
    }
}

/// The lines of the log of a running service.
@Suite(.timeLimit(.minutes(10))) struct LogLineTests {
    @Test("SIGUSR1 switches the log to debug and back, and a refusal that does not matter shows it")
    func aSignalSwitchesTheLevel() async throws {
        let service = try await ServiceProcess.start(["--threads", "1"])
        try await offload { [port = service.port] in
            let answer = try WireClient(port: port).call(.getPost(GetPostRequest(id: 7)))
            #expect(answer.status != nil)
        }
        service.process.signal(SIGUSR1)
        let words = "SIGUSR1: the log has lines of the level"
        #expect(await service.process.prints("\(words) debug and above from now on"))
        #expect(!service.process.output.contains { $0.contains("POST_NOT_FOUND") })
        try await offload { [port = service.port] in
            let answer = try WireClient(port: port).call(.getPost(GetPostRequest(id: 7)))
            #expect(answer.status != nil)
        }
        #expect(await service.process.prints("refused get_post from 127.0.0.1: POST_NOT_FOUND"))
        service.process.signal(SIGUSR1)
        #expect(await service.process.prints("\(words) info and above from now on"))
        #expect(await service.stop() == 0)
    }

    @Test("every line is a JSON object with time, level, message and metadata")
    func linesAreJSON() async throws {
        let service = try await ServiceProcess.start(["--log-format", "json"])
        #expect(await service.stop() == 0)
        #expect(service.process.output.count > 2)
        for line in service.process.output {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            )
            #expect(Set(object.keys) == ["level", "message", "metadata", "time"], "\(line)")
            let time = try #require(object["time"] as? String)
            #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(time)")
        }
    }

    @Test("lines below the level are left out")
    func linesHaveALevel() async throws {
        let directory = try TemporaryDirectory()
        let process = try RunningProcess(
            Programs.feedService,
            [
                "--listen", "0.0.0.0:0", "--insecure", "--data-dir", directory.path,
                "--log-level", "warning",
            ]
        )
        // The first line is a warning, and comes once the signal no longer ends the process.
        #expect(await process.line { _ in true }?.contains("--insecure") == true)
        process.signal(SIGUSR1)
        #expect(await process.line { $0.contains("SIGUSR1") } != nil)
        #expect(!process.output.contains { $0.contains("made the data directory") })
        process.signal(SIGTERM)
        #expect(await process.exitStatus() == 0)
    }

    @Test(
        "a level or form that is unknown is refused",
        arguments: [
            (
                ["--log-level", "loud"],
                "--log-level: expected trace, debug, info, notice, warning, error or critical, got loud."
            ),
            (["--log-format", "xml"], "--log-format: expected text or json, got xml."),
            (["--slow-call", "0ms"], "--slow-call: expected 1ms to 3600s, or off, got 0ms."),
            (["--slow-call", "3601s"], "--slow-call: expected 1ms to 3600s, or off, got 3601s."),
            (["--slow-call", "2m"], "--slow-call: expected 1ms to 3600s, or off, got 2m."),
        ]
    )
    func unknownValuesAreRefused(flags: [String], complaint: String) async throws {
        let process = try RunningProcess(Programs.feedService, ["--in-memory"] + flags)
        let (status, output) = await process.finish()
        #expect(status == 2)
        #expect(output == ["feed-service: \(complaint)"])
    }
}

/// The service under a supervisor, whose socket is the test's.
@Suite(.timeLimit(.minutes(10))) struct SupervisedTests {
    @Test("says that it is ready once it listens, that it reads its keys again, and that it stops")
    func tellsItsLife() async throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(at: directory.path + "/notify")
        let keys = directory.path + "/service.keys"
        let line = "web blake2b:" + String(repeating: "3f", count: 32) + "\n"
        try line.write(toFile: keys, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys)
        let process = try RunningProcess(
            Programs.feedService,
            ["--listen", "127.0.0.1:0", "--in-memory", "--service-keys", keys],
            environment: ["NOTIFY_SOCKET": receiver.address]
        )
        let ready = try await offload { try receiver.receive() }
        let match = try #require(
            ready.wholeMatch(of: #/READY=1\nSTATUS=Serves on 127\.0\.0\.1:(\d+)/#),
            "\(ready)"
        )
        let port = try #require(UInt16(match.1))
        try await offload { _ = try WireClient(port: port).call(.getServerStats) }
        process.signal(1)
        let reload = try await offload { try (receiver.receive(), receiver.receive()) }
        #expect(reload.0.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(reload.1 == "READY=1")
        process.signal(15)
        #expect(try await offload { try receiver.receive() } == "STOPPING=1\nSTATUS=Draining")
        #expect(await process.exitStatus() == 0)
    }

    @Test("a watched process is told of while its loops run, and no more once it is stopped")
    func keepsARunningServiceAlive() async throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(at: directory.path + "/notify")
        let process = try RunningProcess(
            Programs.feedService,
            ["--listen", "127.0.0.1:0", "--in-memory", "--threads", "2"],
            environment: ["NOTIFY_SOCKET": receiver.address, "WATCHDOG_USEC": "20000"]
        )
        // The loops run, and may say so, before the start has said that it is ready.
        let first = try await offload {
            var texts = [try receiver.receive()]
            while texts.count < 4 || !texts.contains(where: { $0.hasPrefix("READY=1") }) {
                texts.append(try receiver.receive())
            }
            return texts
        }
        #expect(first.count(where: { $0.hasPrefix("READY=1") }) == 1)
        #expect(first.allSatisfy { $0 == "WATCHDOG=1" || $0.hasPrefix("READY=1") }, "\(first)")
        process.signal(15)
        let last = try await offload {
            var text = try receiver.receive()
            while text == "WATCHDOG=1" { text = try receiver.receive() }
            return text
        }
        #expect(last == "STOPPING=1\nSTATUS=Draining")
        #expect(await process.exitStatus() == 0)
    }
}

/// The service with a standard error that is full and that nobody reads.
@Suite(.timeLimit(.minutes(2))) struct UnreadLogTests {
    let directory = try? TemporaryDirectory()

    private func pipe() throws -> UnreadPipe {
        try UnreadPipe(at: #require(directory).path + "/log-\(UUID().uuidString)")
    }

    @Test("lines of strangers hold up no call, and SIGTERM ends the service")
    func answersWithoutAReader() async throws {
        let receiver = try DatagramReceiver(at: #require(directory).path + "/notify")
        let pipe = try pipe()
        let process = try pipe.start(
            Programs.feedService,
            ["--listen", "127.0.0.1:0", "--in-memory", "--threads", "1"],
            environment: ["NOTIFY_SOCKET": receiver.address]
        )
        let ready = try await offload { try receiver.receive() }
        let match = try #require(
            ready.wholeMatch(of: #/READY=1\nSTATUS=Serves on 127\.0\.0\.1:(\d+)/#),
            "\(ready)"
        )
        let port = try #require(UInt16(match.1))
        try await offload {
            // The only loop has a line to write of the first one.
            for _ in 0..<3 {
                let stranger = try TestSocket(port: port)
                try stranger.send([0xff, 0xff, 0xff, 0xff])
                _ = try WireClient(port: port).call(.ping(PingRequest()))
            }
        }
        process.signal(15)
        #expect(await process.exitStatus() == 0)
    }

    @Test("a refused start ends, and so does one with a flag that lacks its value")
    func endsWithoutAReader() async throws {
        for arguments in [["--listen", "nowhere"], ["--threads"]] {
            let pipe = try pipe()
            let process = try pipe.start(Programs.feedService, arguments)
            #expect(await process.exitStatus() == 2, "\(arguments)")
            // Without its only reader a pipe is broken, and not full.
            withExtendedLifetime(pipe) {}
        }
    }
}
