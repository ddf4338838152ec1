import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Data directories that cannot be used: what the service says, and that it serves nothing of them.
///
/// The ids are those of `docs/SECURITY.md`.
@Suite(.serialized, .timeLimit(.minutes(10)), DurableService.needed) struct DataDirectoryTests {
    /// A way to spoil a directory, and what the service says of it.
    struct Damage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var texts: [String]
        var killed = true
        var status: Int32 = 5
        var spoil: @Sendable (DataDirectory) throws -> Void
    }

    static let damages = [
        // In a record it costs nothing once that is checkpointed, which nobody can time.
        Damage(testDescription: "T-FILE-1: bit flip in a header", texts: ["journal/", "record"]) {
            try $0.change($0.newestSegment()) { $0[20] ^= 4 }
        },
        Damage(
            testDescription: "T-FILE-3: bit flip in a row",
            texts: ["state.db", "posts"],
            killed: false
        ) { try $0.flipBitOfARow() },
        Damage(
            testDescription: "T-FILE-3: bit flips in pages",
            texts: ["state.db"],
            killed: false
        ) { try $0.flipBitsOfPages() },
        Damage(
            testDescription: "T-FILE-3: damage of a page that no row shows",
            texts: ["state.db", "the file's pages"],
            killed: false
        ) { try $0.miscountFreeBytes() },
        Damage(testDescription: "T-FILE-4: truncated segment", texts: ["journal/"]) {
            try $0.change($0.newestSegment()) { $0.removeLast($0.count - 4096 - 200) }
        },
        Damage(testDescription: "T-FILE-4: emptied segment", texts: ["journal/"]) {
            try $0.change($0.newestSegment()) { $0 = [] }
        },
        Damage(testDescription: "T-FILE-4: deleted segment", texts: ["ecord"]) {
            try $0.remove($0.newestSegment())
        },
        Damage(testDescription: "T-FILE-6: deleted state.db", texts: ["state.db"]) {
            try $0.remove("state.db")
        },
        Damage(
            testDescription: "T-FILE-10: newer journal",
            texts: ["journal/", "format 99"],
            status: 4
        ) {
            try $0.raiseFormatOfSegment()
        },
        Damage(
            testDescription: "T-FILE-10: newer state.db",
            texts: ["state.db", "format 99"],
            killed: false,
            status: 4
        ) { try $0.raiseFormatOfState() },
    ]

    @Test("a directory begins a cluster, twice in the same words, and is no longer one machine's")
    func beginsACluster() async throws {
        let directory = try await DataDirectory.written()
        let words = ["begin-cluster", directory.path]
        let (status, output) = try await RunningProcess(Programs.feedService, words).finish()
        #expect(status == 0, "\(output)")
        let command = try #require(output.last)
        let start = "feed-replica init --config feed-replica.yaml --last-index "
        #expect(command.hasPrefix(start), "\(output)")
        #expect(command.contains(#/\d+ --cluster [0-9a-f]{16}0{16}$/#), "\(output)")
        let again = try await RunningProcess(Programs.feedService, words).finish()
        #expect(again.status == 0 && again.output == output, "\(again)")
        let verify = ["verify", directory.path]
        let (verified, text) = try await RunningProcess(Programs.feedService, verify).finish()
        #expect(verified == 0, "\(text)")
        try await DurableService.expectRefusal(directory.path, 4, ["one of a cluster's"])
        try directory.miscountFreeBytes()
        let damaged = try await RunningProcess(Programs.feedService, verify).finish()
        #expect(damaged.status == 5)
        #expect(damaged.output.joined().contains("feedctl cluster remove NAME"), "\(damaged)")
        let none = ["begin-cluster", directory.path + "/none"]
        let (refused, reason) = try await RunningProcess(Programs.feedService, none).finish()
        #expect(refused == 2, "\(reason)")
        #expect(reason.joined().contains("The directory has no state."), "\(reason)")
    }

    @Test("a cluster's directory becomes another cluster's, if the loss is accepted")
    func recoversACluster() async throws {
        let directory = try await DataDirectory.written()
        let words = ["recover-cluster", "--accept-lost-changes", directory.path]
        let alone = try await RunningProcess(Programs.feedService, words).finish()
        #expect(alone.status == 4, "\(alone)")
        let begin = ["begin-cluster", directory.path]
        let begun = try await RunningProcess(Programs.feedService, begin).finish()
        #expect(begun.status == 0, "\(begun)")
        let plain = ["recover-cluster", directory.path]
        let (refused, reason) = try await RunningProcess(Programs.feedService, plain).finish()
        #expect(refused == 2, "\(reason)")
        #expect(reason.joined().contains("--accept-lost-changes: expected it"), "\(reason)")
        let (status, output) = try await RunningProcess(Programs.feedService, words).finish()
        #expect(status == 0, "\(output)")
        let command = try #require(output.last)
        #expect(command.contains(#/--last-index \d+ --cluster [0-9a-f]{16}0{16}$/#), "\(output)")
        #expect(command != begun.output.last)
        let again = try await RunningProcess(Programs.feedService, words).finish()
        #expect(again.status == 0 && again.output == output, "\(again)")
        let verify = ["verify", directory.path]
        let (verified, text) = try await RunningProcess(Programs.feedService, verify).finish()
        #expect(verified == 0, "\(text)")
        try await DurableService.expectRefusal(directory.path, 4, ["one of a cluster's"])
    }

    @Test(arguments: damages)
    func refusesDamage(_ damage: Damage) async throws {
        let directory = try await DataDirectory.written(killed: damage.killed)
        try damage.spoil(directory)
        try await DurableService.expectRefusal(directory.path, damage.status, damage.texts)
        // A second look finds the same: the first has repaired nothing away.
        try await DurableService.expectRefusal(directory.path, damage.status, damage.texts)
    }

    @Test("damage that a checkpoint meets ends a running service with 5, and names the way back")
    func endsAtDamage() async throws {
        // More than the 2 MiB that SQLite keeps of a file, so that a checkpoint reads it.
        let directory = try await DataDirectory.written(killed: false, afterHundreds: 600)
        let service = try await DurableService.start(directory.path)
        try directory.flipBitsOfPages()
        _ = try? await service.call { client in
            for id in stride(from: 1, through: 60_000, by: 100) {
                _ = try client.vote(PostID(rawValue: UInt64(id)))
            }
        }
        #expect(await service.process.exitStatus() == 5)
        let verify = "feed-service verify \(directory.path)"
        let output = service.process.output
        #expect(output.contains { $0.hasSuffix(verify) }, "\(output)")
        try await DurableService.expectRefusal(directory.path, 5, ["state.db"])
    }

    @Test("serves what was not spoilt", arguments: [true, false])
    func servesWhatIsWhole(killed: Bool) async throws {
        try await DataDirectory.written(killed: killed).expectServed()
    }

    @Test("T-DIR-1: a second instance exits, and the first serves")
    func refusesASecondInstance() async throws {
        let directory = try await DataDirectory.written()
        let first = try await DurableService.start(directory.path)
        try await DurableService.expectRefusal(directory.path, 3, ["in use"])
        #expect(try await first.upvotes(directory.post) == UInt64(DataDirectory.voteCount))
        _ = try await first.createPost("another", votes: 3)
        #expect(await first.stop() == 0)
        try await directory.expectServed()
    }

    @Test("T-FILE-7: state.db beside another directory's journal")
    func refusesAStateOfAnotherDirectory() async throws {
        let directory = try await DataDirectory.written(killed: false)
        let other = try await DataDirectory.written(killed: false)
        try other.remove("state.db")
        try FileManager.default.copyItem(
            atPath: directory.path + "/state.db",
            toPath: other.path + "/state.db"
        )
        try await DurableService.expectRefusal(other.path, 4, ["instance"])
        try await directory.expectServed()
    }

    @Test("T-DIR-2: a file in place of the directory")
    func refusesAFile() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/file"
        try "text".write(toFile: path, atomically: true, encoding: .utf8)
        try await DurableService.expectRefusal(path, 2, [path, "no directory"])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "text")
    }

    @Test(
        "T-DIR-2: another user's directory",
        .enabled(if: geteuid() == 0, "Only root can give it.")
    )
    func refusesAnotherUsersDirectory() async throws {
        let directory = try TemporaryDirectory()
        #expect(directory.give(to: 12345))
        try await DurableService.expectRefusal(directory.path, 2, [directory.path, "12345"])
    }

    @Test(
        "T-DIR-2: a read-only file system",
        .enabled(if: TemporaryDirectory.canMount, "Mounting needs root.")
    )
    func refusesAReadOnlyFileSystem() async throws {
        let directory = try TemporaryDirectory(mounting: 1 << 20, isReadOnly: true)
        try await DurableService.expectRefusal(directory.path, 2, [directory.path, "read-only"])
    }

    @Test("a directory that is not there is made")
    func makesTheDirectory() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/data"
        let service = try await DurableService.start(path)
        let post = try await service.createPost("kept", votes: 1)
        #expect(await service.stop() == 0)
        let restarted = try await DurableService.start(path)
        #expect(try await restarted.upvotes(post) == 1)
        #expect(await restarted.stop() == 0)
    }
}
