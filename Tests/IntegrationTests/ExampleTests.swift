import FeedTestSupport
import Foundation
import Testing

/// The examples do what they say against a running service.
@Suite(.timeLimit(.minutes(10))) struct ExampleTests {
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

    @Test("a Python program on the client of clients/python")
    func pythonClient() async throws {
        let service = try await ServiceProcess.start()
        try await Self.runPython(["127.0.0.1", "\(service.port)"])
        #expect(await service.stop() == 0)
    }

    @Test("a Python program over TLS")
    func pythonClientOverTLS() async throws {
        let service = try await SecuredService.start(TestCertificates())
        let authority = service.certificates.certificate("ca")
        try await Self.runPython(["localhost", "\(service.port)", "--tls", "--ca", authority])
        #expect(await service.stop() == 0)
    }

    @Test("a reader of posts over TLS, and what it says where it finds nothing")
    func readerOverTLS() async throws {
        let service = try await SecuredService.start(TestCertificates(), ["--sample-data"])
        let folder = try TemporaryDirectory()
        let program = Programs.feedService.deletingLastPathComponent().appending(path: "Reader")
        let words = [program.path(), "localhost:\(service.port)", folder.path + "/reader"]
        func read(_ flags: String...) async throws -> [String] {
            let reader = try RunningProcess(
                URL(filePath: "/bin/sh"),
                ["-c", "echo q | \"$@\"", "sh"] + words + flags
            )
            let (status, output) = await reader.finish()
            #expect(status == 0, "\(output)")
            return output
        }
        let plain = try await read()
        #expect(plain.contains { $0.hasPrefix("Nothing was copied yet. ") }, "\(plain)")
        let secured = try await read("--tls", "--ca", service.certificates.certificate("ca"))
        #expect(secured.contains("Synced: sent 0, received 20."), "\(secured)")
        #expect(await service.stop() == 0)
    }

    @Test("without the library of protobuf the Python program says what to install")
    func pythonClientWithoutItsLibrary() async throws {
        let bash = try #require(Programs.command("bash"), "bash is on the path")
        let script = Programs.projectFolder.appending(path: "Examples/python/run.sh").path()
        let process = try RunningProcess(
            bash,
            [script, "127.0.0.1", "1"],
            environment: ["PYTHONHOME": "/nowhere"]
        )
        let (status, output) = await process.finish()
        #expect(status == 1)
        #expect(output.last?.hasSuffix("apt install python3-protobuf") == true)
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

/// The tutorial of the documentation is a program that runs.
@Suite(.timeLimit(.minutes(10))) struct TutorialTests {
    private static let page = "Sources/FeedClient/FeedClient.docc/FirstClient.md"
    private static let program = "Examples/FirstClient/FirstClient.swift"

    private static func text(_ path: String) throws -> String {
        let file = Programs.projectFolder.appending(path: path)
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// The blocks of Swift of a page, line by line.
    private static func blocks(in page: String) -> [[Substring]] {
        page.components(separatedBy: "```swift\n").dropFirst().map { part in
            Array(part.split(separator: "\n").prefix { $0 != "```" })
        }
    }

    @Test func itsStepsAreTheProgram() throws {
        let steps = Self.blocks(in: try Self.text(Self.page)).dropFirst(2)
        let program = try Self.text(Self.program).split(separator: "\n")
        let body = program.dropFirst(6).dropLast(2).filter { !$0.contains("// ") }
            .map { $0.dropFirst(8) }
        #expect(steps.flatMap(\.self) == Array(body))
    }

    @Test func theProgramPrintsWhatThePageSays() async throws {
        let service = try await ServiceProcess.start()
        let program = Programs.feedService.deletingLastPathComponent()
            .appending(path: "FirstClient")
        let client = try RunningProcess(program, ["127.0.0.1:\(service.port)"])
        let (status, output) = await client.finish()
        #expect(status == 0)
        let shown = try Self.text(Self.page).split(separator: "\n").map(String.init)
            .drop { !$0.hasPrefix("Pear has ") }.prefix { $0 != "```" }
        #expect(output == Array(shown))
        #expect(await service.stop() == 0)
    }
}
