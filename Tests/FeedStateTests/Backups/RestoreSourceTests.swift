import FeedJournal
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// What was typed for a restore, in the file `restoring`.
@Suite struct RestoreSourceTests {
    static let sources = [
        RestoreSource(path: "/mnt/backups/20260101T000000000Z"),
        RestoreSource(path: "/srv/feed", flags: ["--at", "2026-11-25T14:05:00.123456Z"]),
        RestoreSource(path: "/srv/feed", flags: ["--at-revision", "7"]),
        RestoreSource(path: "/srv/--at", flags: ["--at", "20260101T000000000Z"]),
    ]

    @Test(arguments: sources)
    func isReadAsItWasWritten(_ source: RestoreSource) throws {
        let directory = try DataDirectory()
        try source.write(directory.files)
        #expect(RestoreSource.read(directory.files) == source)
    }

    @Test func aRelativePathIsNotedWhole() throws {
        let directory = try DataDirectory()
        try RestoreSource(path: "feed", flags: ["--at-revision", "7"]).write(directory.files)
        let folder = FileManager.default.currentDirectoryPath
        #expect(RestoreSource.read(directory.files)?.path == "\(folder)/feed")
    }

    @Test(
        "what a power cut has left of a note is no note",
        arguments: [
            "", "\n", "--at\n", "--at\n2026-11-25T14:05:00Z\n", "--at\n2026-11-25T14:05:00Z\n\n",
            "--at\n2026-11-25T14:05:00Z\n/srv/feed", "/srv\0/feed\n", "/srv/feed",
            "/srv/two\nlines\n",
        ]
    )
    func partOfANote(_ text: String) throws {
        let directory = try DataDirectory()
        try directory.write(BackupRestore.restoringName, Array(text.utf8))
        #expect(RestoreSource.read(directory.files) == nil)
    }

    @Test("a command has each word of a moment as one word of the shell")
    func wordsAreQuoted() {
        let error = StateStartError.restoreInterrupted(
            path: "/srv/feed",
            source: "/srv/old feed",
            flags: ["--at", "2026-11-25 14:05:00Z"]
        )
        let text = "\(StartRefusal(error, directory: "/srv/feed"))"
        let command = "feed-service restore --at '2026-11-25 14:05:00Z' '/srv/old feed' /srv/feed"
        #expect(text.contains("    \(command)\n"), "\(text)")
    }
}
