import FeedTestSupport
import Foundation
import Testing

/// `feedctl feed` at a terminal: single keys turn pages, vote and open, with a service and without.
@Suite(.timeLimit(.minutes(2)))
struct FeedCtlPagerTests {
    private static func pager(_ flags: [String]) throws -> TerminalProcess {
        try TerminalProcess(
            Programs.feedCtl,
            ["feed", "posts", "--order", "old", "--rows", "3"] + flags,
            rowCount: 200
        )
    }

    /// Whether so many rows of the terminal, and no more, have a text, waiting for them.
    private static func shows(
        _ text: String,
        _ process: TerminalProcess,
        _ count: Int = 1
    ) async -> Bool {
        await process.screen { $0.rows.count { $0.contains(text) } == count } != nil
    }

    @Test func keysTurnPagesVoteAndOpen() async throws {
        let service = try await ServiceProcess.start(["--sample-data"])
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        let pager = try Self.pager(flags)
        #expect(await Self.shows("1–3 of 20 posts.", pager))
        #expect(await Self.shows("n next, 1u up, 1d down, 1o open, q quit:", pager))
        #expect(!pager.takesLines)
        try pager.type("n")
        #expect(await Self.shows("4–6 of 20 posts.", pager))
        #expect(await Self.shows("n next, p previous, 4u up, 4d down, 4o open, q quit:", pager))
        try pager.type("5u")
        #expect(await Self.shows("Post 5: score 1 (1 up, 0 down).", pager))
        try pager.type("6d")
        #expect(await Self.shows("Post 6: score -1 (0 up, 1 down).", pager))
        // An arrow is no key, and a row of another page none to vote on.
        try pager.type("\u{1B}[B")
        try pager.type("9u")
        #expect(await Self.shows("No row 9 here.", pager))
        try pager.type("u")
        #expect(await Self.shows("Type the number of a row first, as 4u.", pager))
        try pager.type("4o")
        #expect(await Self.shows("revision  ", pager))
        try pager.type("p")
        #expect(await Self.shows("1–3 of 20 posts.", pager, 2))
        for first in stride(from: 4, through: 16, by: 3) {
            try pager.type(" ")
            let count = first == 4 ? 2 : 1
            #expect(await Self.shows("\(first)–\(first + 2) of 20 posts.", pager, count))
        }
        try pager.type("n")
        #expect(await Self.shows("19–20 of 20 posts.", pager))
        try pager.type("q")
        #expect(await pager.exitStatus() == 0)
        #expect(pager.takesLines)
        // The post that was opened is read, and it alone.
        let unread = try await FeedCtlTests.run(["feed", "posts", "--unread"] + flags)
        #expect(unread.output.contains("19 of 20 posts."), "\(unread.output)")
        #expect(await service.stop() == 0)
    }

    @Test func theCopyHasPagesToo() async throws {
        let service = try await ServiceProcess.start(["--sample-data"])
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        let synced = try await FeedCtlTests.run(["sync"] + flags)
        try #require(synced.status == 0, "\(synced.output)")
        #expect(await service.stop() == 0)
        let pager = try Self.pager(flags + ["--offline"])
        #expect(await Self.shows("1–3 of 20 posts.", pager))
        try pager.type("n")
        #expect(await Self.shows("4–6 of 20 posts.", pager))
        try pager.type("4u")
        #expect(await Self.shows("The vote waits as entry 1 for feedctl sync.", pager))
        try pager.type("5o")
        #expect(await Self.shows("revision  ", pager))
        try pager.type("p")
        #expect(await Self.shows("1–3 of 20 posts.", pager, 2))
        try pager.type("q")
        #expect(await pager.exitStatus() == 0)
        let outbox = try await FeedCtlTests.run(["outbox"] + flags)
        #expect(outbox.output.contains("vote up on 4"), "\(outbox.output)")
        #expect(outbox.output.contains("mark read"), "\(outbox.output)")
    }

    @Test("a call that is refused does not end the pager")
    func aRefusalDoesNotEndThePager() async throws {
        let service = try await ServiceProcess.start(["--sample-data"])
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        let pager = try Self.pager(flags)
        #expect(await Self.shows("1–3 of 20 posts.", pager))
        let gone = try await FeedCtlTests.run(["delete", "2"] + flags.prefix(2))
        try #require(gone.status == 0, "\(gone.output)")
        try pager.type("2u")
        #expect(await Self.shows("POST_NOT_FOUND", pager))
        try pager.type("3u")
        #expect(await Self.shows("Post 3: score 1 ", pager))
        try pager.type("\u{3}")
        #expect(await pager.exitStatus() == 0)
        #expect(await service.stop() == 0)
    }
}
