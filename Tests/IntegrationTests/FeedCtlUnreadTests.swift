import FeedClient
import FeedTestSupport
import Foundation
import Testing

/// `feedctl` whose output nobody reads: it does its work, and it ends when it is told to.
@Suite(.timeLimit(.minutes(2)))
struct FeedCtlUnreadTests {
    /// Runs a program whose standard error is a pipe that is full, or that nobody reads.
    private static let withoutReader = """
        import os, subprocess, sys
        reader, writer = os.pipe()
        if sys.argv[1] == "full":
            os.set_blocking(writer, False)
            try:
                while True:
                    os.write(writer, bytes(4096))
            except BlockingIOError:
                os.set_blocking(writer, True)
        else:
            os.close(reader)
        sys.exit(subprocess.run(sys.argv[2:], stderr=writer).returncode)
        """

    @Test("a notice that nobody reads costs no work", arguments: ["full", "closed"])
    func aNoticeThatNobodyReadsCostsNoWork(pipe: String) async throws {
        let service = try await ServiceProcess.start()
        let folder = try TemporaryDirectory()
        // The notice: others may read the session.
        let session = folder.path + "/session"
        try Data("a session\n".utf8).write(to: URL(filePath: session))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: session)
        let python = try #require(Programs.command("python3"), "python3 is on the path")
        let process = try RunningProcess(
            python,
            ["-c", Self.withoutReader, pipe, Programs.feedCtl.path(), "post", "Apples"]
                + ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        )
        let (status, output) = await process.finish()
        #expect(status == 0)
        #expect(output.contains("title     Apples"), "\(output)")
        #expect(await service.stop() == 0)
    }

    @Test("a terminal that nobody reads does not hold up the end", arguments: ["q", "\u{3}"])
    func aTerminalThatNobodyReadsDoesNotHoldUpTheEnd(key: String) async throws {
        let service = try await ServiceProcess.start(["--sample-data"])
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        let process = try TerminalProcess(Programs.feedCtl, ["watch"] + flags)
        #expect(await process.screen { $0.rows.contains("In order.") } != nil)
        // Ctrl-S stops the output, so each write waits from here on.
        try process.type("\u{13}")
        if key == "q" { process.signal(SIGTERM) } else { try process.type(key) }
        #expect(await process.exitStatus() == 1)
        #expect(process.takesLines)
        #expect(await service.stop() == 0)
    }

    @Test("Ctrl-C at the password ends the program and brings the terminal back")
    func theTerminalShowsAgainWhatIsTypedAfterAPassword() async throws {
        let service = try await ServiceProcess.start()
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        let process = try TerminalProcess(Programs.feedCtl, ["login", "ann@example.org"] + flags)
        #expect(await process.screen { $0.rows.contains("Password:") } != nil)
        #expect(!process.takesLines)
        try process.type("sec\u{3}")
        #expect(await process.exitStatus() == -SIGINT)
        #expect(process.takesLines)
        #expect(!process.screen.rows.contains { $0.contains("sec") })
        #expect(await service.stop() == 0)
    }
}
