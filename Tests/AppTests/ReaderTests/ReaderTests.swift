import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The program of `Examples/Reader`, as a person uses it.
@Suite(.timeLimit(.minutes(10))) struct ReaderTests {
    /// What the reader prints when a person types lines, ended by `q`.
    nonisolated(nonsending) private static func read(
        _ lines: String...,
        from service: AppService,
        in folder: TemporaryDirectory
    ) async throws -> [String] {
        let input = (lines + ["q"]).joined(separator: "\n")
        let program = Programs.feedService.deletingLastPathComponent().appending(path: "Reader")
        let reader = try RunningProcess(
            URL(filePath: "/bin/sh"),
            ["-c", "printf '%s\\n' \"$1\" | \"$2\" \"$3\" \"$4\"", "sh"]
                + [input, program.path, service.address, folder.path + "/reader"]
        )
        let (status, output) = await reader.finish()
        #expect(status == 0, "\(output)")
        return output
    }

    @Test func aPersonReadsVotesPostsAndDismissesWithAndWithoutAService() async throws {
        try await AppService.run("--sample-data") { service in
            let folder = try TemporaryDirectory()
            var output = try await Self.read(
                "in ann@example.org",
                "secret1",
                "top",
                "u 1",
                "post Written here",
                "s",
                from: service,
                in: folder
            )
            #expect(output.contains(" 1 *     0  Apple"))
            #expect(output.contains(" 1 *     1  Apple"))
            #expect(output.last { $0.hasPrefix("Synced") }?.hasPrefix("Synced: sent 2,") == true)

            await service.stop()
            // The list is there without a service, and so is what a person does to it.
            output = try await Self.read(
                "u 1",
                "top",
                "x 2",
                "new",
                "post Written offline",
                from: service,
                in: folder
            )
            #expect(output.contains { $0.hasPrefix("Offline, changes that wait: 0.") })
            #expect(output.contains(" 1 *     2  Apple"))
            #expect(output.contains { $0.hasPrefix(" 1") && $0.hasSuffix("Written offline") })

            try await service.start()
            output = try await Self.read("top", from: service, in: folder)
            #expect(output.contains { $0.hasPrefix("Synced: sent 3,") })

            let client = try await service.launch()
            let session = try await client.signIn(email: "ann@example.org", password: "secret1")
            let apple = try #require(try await client.listPosts(order: .top).posts.first)
            #expect(apple.title == "Apple" && apple.score == 2)
            let written = try await client.listPosts(order: .new, pageSize: 100).posts
                .filter { $0.title.hasPrefix("Written") }
            #expect(written.map(\.title) == ["Written offline", "Written here"])
            #expect(written.allSatisfy { $0.author?.id == session.user?.id })
            // What was dismissed offline is in no list of the person.
            #expect(try await client.listPosts(pageSize: 100).totalSize == 22)
            #expect(try await client.listPosts(pageSize: 100).posts.count == 21)
            await client.close()
        }
    }

    @Test func theReaderComesBackToItsPage() async throws {
        try await AppService.run("--sample-data") { service in
            let folder = try TemporaryDirectory()
            let first = try await Self.read("top", "n", from: service, in: folder)
            let page = first.suffix(10)
            #expect(page.first?.hasPrefix(" 1 *") == true)
            await service.stop()
            let second = try await Self.read(from: service, in: folder)
            #expect(second.filter { $0.contains(" *") }.prefix(10) == page)
        }
    }

    /// The pages that were shown: their rows, without numbers.
    private static func pages(_ output: [String]) -> [[String]] {
        var pages: [[String]] = []
        for line in output {
            guard let row = Int(line.prefix(2).trimmingCharacters(in: .whitespaces)) else {
                continue
            }
            if row == 1 { pages.append([]) }
            pages[pages.count - 1].append(String(line.dropFirst(3)))
        }
        return pages
    }

    @Test func aPersonTurnsPagesOpensAPostAndDismissesAll() async throws {
        try await AppService.run("--sample-data") { service in
            let folder = try TemporaryDirectory()
            var output = try await Self.read(
                "new",
                "top",
                "n",
                "p",
                "d 2",
                "o 3",
                "top",
                "u 11",
                "what",
                from: service,
                in: folder
            )
            let pages = Self.pages(output).dropFirst().map { Array($0.prefix(3)) }
            let first = ["*     0  Apple", "*     0  Apricot", "*     0  Avocado"]
            #expect(
                pages == [
                    ["*     0  Strawberry", "*     0  Pineapple", "*     0  Pear"], first,
                    ["*     0  Kiwi", "*     0  Lemon", "*     0  Mango"], first,
                    // No row moves with its score, until the list is asked for anew.
                    ["*     0  Apple", "*    -1  Apricot", "*     0  Avocado"],
                    ["*     0  Apple", "      0  Avocado", "*     0  Banana"],
                ]
            )
            #expect(output.contains("Avocado"))
            #expect(output.contains("There is no row 11."))
            #expect(output.count { $0.hasPrefix("n, p  next and previous page") } == 2)

            output = try await Self.read("x all", from: service, in: folder)
            #expect(output.last == "No posts here.")
            output = try await Self.read(from: service, in: folder)
            #expect(Self.pages(output).isEmpty)
        }
    }

    @Test func aRefusalIsToldOnceAndWhoHasSignedOutIsNobody() async throws {
        try await AppService.run { service in
            let folder = try TemporaryDirectory()
            let output = try await Self.read(
                "in ann@example.org",
                "secret1",
                "out",
                "post " + String(repeating: "x", count: 300),
                "post Nobody's",
                "s",
                "s",
                from: service,
                in: folder
            )
            #expect(output.count { $0.contains("TITLE_TOO_LONG") } == 1, "\(output)")
            let client = try await service.launch()
            let posts = try await client.listPosts(order: .new).posts
            #expect(posts.map(\.title) == ["Nobody's"])
            #expect(posts.first?.author?.id ?? 0 == 0)
            await client.close()
        }
    }
}
