import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The lines of the log of a running service.
@Suite(.timeLimit(.minutes(10)))
struct LogLineTests {
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
