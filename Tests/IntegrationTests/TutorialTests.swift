import FeedTestSupport
import Foundation
import Testing

/// The tutorial of the documentation is a program that runs.
@Suite(.timeLimit(.minutes(10)))
struct TutorialTests {
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
            .drop { !$0.hasPrefix("Connected to ") }.prefix { $0 != "```" }
        #expect(output.dropFirst() == shown.dropFirst())
        #expect(await service.stop() == 0)
    }
}
