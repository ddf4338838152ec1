import FeedJournal
import FeedService
import FeedState
import Foundation
import Testing

/// The lines of a running service are in `docs/OPERATIONS.md` in the words that it logs.
struct OperatorLinesTests {
    static let directory = "/srv/feed"

    static let lines = [
        OperatorLines.space(.full(freeByteCount: 1 << 20, writableByteCount: 2 << 20), directory),
        OperatorLines.space(.hasRoom(freeByteCount: 1 << 20), directory),
        OperatorLines.space(.gaveUpBallast, directory),
        OperatorLines.space(.droppedSegments(count: 2), directory),
        OperatorLines.clock(.jumped(by: 600_000)),
        OperatorLines.clock(.agrees),
        OperatorLines.clock(.corrected(by: 2000)),
        OperatorLines.clockStep(ClockSteps.Step(record: 7, before: 1 << 40, after: 1 << 41)),
        OperatorLines.clockStep(ClockSteps.Step(record: 7, before: 1 << 41, after: 1 << 40)),
        OperatorLines.stall(.commit, .seconds(5), .majority(record: 4711)),
        OperatorLines.replica(.clockIsBehind(microseconds: 600_000_000)),
        OperatorLines.stall(.checkpoint, .seconds(10)),
        OperatorLines.stall(.backup, .seconds(10)),
        OperatorLines.postsAhead(2, lead: .seconds(300)),
        OperatorLines.acceptedLoss(7, ["00000000000000000001-after-7-0123456789abcdef.log"]),
    ]

    @Test(arguments: lines)
    func isInTheDocumentWordForWord(_ line: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let document = try String(
            contentsOf: root.appending(path: "docs/OPERATIONS.md"),
            encoding: .utf8
        )
        let text = line.replacing(/\d{20}/) { _ in "N" }
            .replacing(/[0-9a-f]{16}/) { _ in "ID" }
            .replacing(/\d+(\.\d+)?/) { _ in "N" }
        let found = document.split(separator: "\n").contains { $0 == text }
        #expect(found, "not in the document: \(text)")
    }

    @Test("what a checkpoint finds damaged has a way back, and a disk that fails has none of it")
    func aDamageHasAWayBack() {
        let damage = StorageError.damagedRow(table: "posts", key: "row 7", reason: "gone")
        #expect(damage.isDamage)
        #expect(
            OperatorLines.failed(damage, Self.directory).hasSuffix("feed-service verify /srv/feed")
        )
        let failure = StorageError.stateStopped(reason: "The disk failed.")
        #expect(!failure.isDamage)
        #expect(!OperatorLines.failed(failure, Self.directory).contains("verify"))
    }

    @Test("how much is free, and from when on changes are taken, is in bytes and MiB")
    func namesTheLimit() {
        let news = SpaceNews.full(freeByteCount: 471_793_664, writableByteCount: 512 << 20)
        let line = OperatorLines.space(news, Self.directory)
        #expect(line.contains("471793664 bytes (449 MiB) are free"), "\(line)")
        #expect(line.contains("until 536870912 bytes (512 MiB) are free"), "\(line)")
    }
}
