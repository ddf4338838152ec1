import FeedTestSupport
import Foundation
import Testing

/// The examples do what they say against a running service.
@Suite(.timeLimit(.minutes(10)))
struct ExampleTests {
    @Test("a client in a package of its own, over SwiftNIO")
    func embeddedClient() async throws {
        let swift = try #require(Programs.command("swift"), "swift is on the path")
        let package = Programs.projectFolder.appending(path: "Examples/EmbeddedClient").path()
        let build = try RunningProcess(swift, ["build", "--package-path", package])
        let (built, log) = await build.finish()
        try #require(built == 0, "\(log.joined(separator: "\n"))")
        let service = try await ServiceProcess.start()
        let client = try RunningProcess(
            Programs.projectFolder
                .appending(path: "Examples/EmbeddedClient/.build/debug/EmbeddedClient"),
            ["127.0.0.1:\(service.port)"]
        )
        let (status, output) = await client.finish()
        #expect(status == 0, "\(output.joined(separator: "\n"))")
        #expect(await service.stop() == 0)
    }

    @Test("a Python client, generated from the same contract")
    func pythonClient() async throws {
        let service = try await ServiceProcess.start()
        try await Self.runPython(["127.0.0.1", "\(service.port)"])
        #expect(await service.stop() == 0)
    }

    @Test("a Python service that shows its key and acts for users")
    func pythonServiceWithAKey() async throws {
        let directory = try TemporaryDirectory()
        let (key, keys) = ("\(directory.path)/web.key", "\(directory.path)/keys")
        let making = try RunningProcess(Programs.feedService, ["new-service-key", "web", key])
        let (made, lines) = await making.finish()
        try #require(made == 0, "\(lines)")
        try Data("\(lines.joined(separator: "\n"))\n".utf8).write(to: URL(filePath: keys))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys)
        let service = try await ServiceProcess.start(["--service-keys", keys])
        try await Self.runPython(["127.0.0.1", "\(service.port)", key])
        #expect(await service.stop() == 0)
    }

    private static func runPython(_ arguments: [String]) async throws {
        let client = try RunningProcess(
            Programs.projectFolder.appending(path: "Examples/python/run.sh"),
            arguments
        )
        let (status, output) = await client.finish()
        #expect(status == 0, "\(output.joined(separator: "\n"))")
    }
}
