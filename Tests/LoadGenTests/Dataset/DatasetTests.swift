import ArgumentParser
import FeedDataset
import FeedImport
import Foundation
import LoadGen
import LoadGenCommand
import Testing

@Suite struct DatasetTests {
    /// Runs with a file of a name in a folder of its own.
    private func withFile(
        _ name: String,
        _ text: String,
        _ body: (String) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        try body(file.path())
    }

    @Test(arguments: [
        ("books.csv", "books"), ("iOSProgramming.csv", "iosprogramming"),
        ("today_I_learned.csv", "today-i-learned"), ("a.b.csv", nil), ("2x.csv", nil),
        ("_x.csv", nil), ("größe.csv", nil),
    ])
    func namesTheFeedAfterTheFile(name: String, feed: String?) throws {
        try withFile(name, "title\na\n") { path in
            guard let feed else {
                #expect(throws: RunFailure.self) { try DatasetFile(reading: path) }
                return
            }
            let file = try DatasetFile(reading: path)
            #expect(file.feed == feed)
            #expect(file.posts.map(\.title) == ["a"])
        }
    }

    @Test func refusesTwoFilesForOneFeed() throws {
        try withFile("one.csv", "title\na\n") { first in
            try withFile("ONE.csv", "title\nb\n") { second in
                let cause = "The feed \"one\" is filled by \(first)."
                #expect(throws: RunFailure.badFile(second, cause)) {
                    try Dataset(reading: [first, second])
                }
            }
        }
    }

    @Test func saysWhichFileCannotBeRead() throws {
        try withFile("one.csv", "title,ups\na\n") { path in
            let cause = DatasetError.fieldCount(line: 2, actual: 1, expected: 2).description
            let failure = RunFailure.badFile(path, cause)
            #expect(throws: failure) { try Dataset(reading: [path]) }
            #expect(failure.description.hasPrefix("\(path): Line 2"))
            #expect(failure.exitStatus == .usage)
        }
        #expect(throws: RunFailure.self) { try Dataset(reading: ["/nowhere/none.csv"]) }
    }

    @Test func leavesOutAPostWithAWrongValueAndKeepsTheOthers() throws {
        try withFile("one.csv", "title,ups,downs\na,1,0\nb,2,-1\nc,3,0\n") { path in
            let file = try DatasetFile(reading: path)
            #expect(file.posts.map(\.title) == ["a", "c"])
            let message =
                "\"downs\" is \"-1\", which is no whole number from 0 to 18446744073709551615."
            #expect(
                file.leftOut == [
                    LeftOutPost(
                        line: 3,
                        field: "downvote_count",
                        reason: "BAD_COUNT",
                        value: "-1",
                        actual: 0,
                        limit: 0,
                        message: message
                    )
                ]
            )
        }
    }

    private static func options(_ arguments: [String]) throws -> any ParsableCommand {
        try CommandLineArguments(["dataset"] + arguments).options()
    }

    @Test func takesTheFlagsOfARunButItsPostsAndVotes() throws {
        let options = try #require(
            try Self.options(["a.csv", "b.csv", "-c", "7", "-P", "3"])
                as? DatasetOptions
        )
        #expect(options.files == ["a.csv", "b.csv"])
        let configuration = try RunConfiguration(options.load, coreCount: 2, isTerminal: false)
        #expect(configuration.clientCount == 7)
        #expect(configuration.pipelineDepth == 3)
        #expect(configuration.warmup == .zero)
        #expect(configuration.duration == nil)
        for flags in [[], ["a.csv", "--mix", "feed"], ["a.csv", "--posts", "5"]] {
            #expect(throws: (any Error).self) { try Self.options(flags) }
        }
    }

    @Test func saysBeforeTheRunWhatItCastsAndTakes() throws {
        try withFile("one.csv", "title,ups,downs\na,1200,30\nb,4,0\n") { path in
            let options = try #require(
                try Self.options([path, "--repeat", "2M", "-t", "2"]) as? DatasetOptions
            )
            #expect(throws: FlagError.self) {
                try RunConfiguration(options, coreCount: 4, isTerminal: false)
            }
            var fitting = options
            fitting.repeatCount = "100"
            let configuration = try RunConfiguration(fitting, coreCount: 4, isTerminal: false)
            let outline = DatasetOutline(try Dataset(reading: [path]), configuration)
            #expect(outline.voteCount == 1234)
            #expect(outline.totalCount == 123_400)
            #expect(outline.scheduleByteCount == 72)
            #expect(
                outline.description.hasPrefix(
                    "1 file, 2 posts, 1,234 votes × 100 = 123,400 votes in one random order;"
                )
            )
        }
        try withFile("one.csv", "title,ups\na,18446744073709551615\nb,2\n") { path in
            let outline = DatasetOutline(
                try Dataset(reading: [path]),
                try configure([])
            )
            #expect(outline.totalCount == .max)
        }
    }
}
