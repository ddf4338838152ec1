import FeedConcurrency
import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// Each refusal to start is in `docs/REFUSALS.md` in the words that the service prints.
@Suite struct RefusalWordsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var error: StateStartError
        var backups: [String] = []
        /// What a directory without a `state.db` has.
        var remedy: StateRemedy?
        var command = RefusedCommand.serve()
    }

    private static let loss = StateLoss(problem: .lost(records: 8...9), left: 7, known: 9)

    private static let damagedSegment = StateLoss(
        problem: .damagedRecord(
            file: "journal/00000000000000000001.log",
            offset: 4096,
            record: 8,
            reason: "its hash is wrong, and record 9 is after it at offset 5000"
        ),
        left: 7,
        known: 9
    )

    private static let missingSegment = StateLoss(
        problem: .missing(records: 8...9),
        left: 7,
        known: 9,
        place: .segment("journal/00000000000000000008.log")
    )

    private static let damagedRow = StorageError.damagedRow(
        table: "posts",
        key: "row 7",
        reason: "the checksum does not fit the row"
    )

    private static let backup = "/srv/feed/backups/20260101T000000000Z"

    private static let times = ["20260101T000000000Z", "20260102T000000000Z"]

    static let rows = [
        Row(testDescription: "full", error: .full(neededByteCount: 70 << 20, freeByteCount: 0)),
        Row(
            testDescription: "full while a loss is accepted",
            error: .full(neededByteCount: 70 << 20, freeByteCount: 0),
            command: .serve(acceptedLoss: 7)
        ),
        Row(
            testDescription: "full under a new instance",
            error: .full(neededByteCount: 70 << 20, freeByteCount: 0),
            command: .newInstance
        ),
        Row(testDescription: "missing segment", error: .loss(missingSegment)),
        Row(
            testDescription: "missing end",
            error: .loss(
                StateLoss(
                    problem: .lost(records: 8...8),
                    left: 7,
                    known: 8,
                    place: .end(
                        of: "journal/00000000000000000001.log",
                        offset: 4096,
                        next: "journal/00000000000000000008.log"
                    )
                )
            )
        ),
        Row(
            testDescription: "missing segment, and a backup that has more",
            error: .loss(missingSegment),
            backups: ["20260101T000000000Z"],
            remedy: .continued(backup: backup, checkpointed: 9, last: 12)
        ),
        Row(testDescription: "no state", error: .noState),
        Row(testDescription: "foreign", error: .foreignFile("report.odt")),
        Row(
            testDescription: "owner",
            error: .storage(.wrongOwner(path: "/srv/feed/state.db", owner: 12, user: 34))
        ),
        Row(
            testDescription: "of a user without rights",
            error: .storage(.system("open", "durable.hwm", code: EACCES))
        ),
        Row(testDescription: "read-only", error: .storage(.readOnlyDirectory(path: "/srv/feed"))),
        Row(testDescription: "in use", error: .storage(.locked(path: "/srv/feed", holder: 5))),
        Row(
            testDescription: "other instance",
            error: .storage(
                .otherInstance(
                    file: "journal/00000000000000000001.log",
                    found: .max / 3,
                    expected: 0xABCD
                )
            )
        ),
        Row(
            testDescription: "refused thread",
            error: .storage(.thread(ThreadStartError(name: "feed-load", code: EAGAIN)))
        ),
        Row(testDescription: "copy", error: .copied),
        Row(
            testDescription: "newer",
            error: .storage(.newerFormat(file: "state.db", format: 9, known: 1))
        ),
        Row(testDescription: "damaged", error: .loss(damagedSegment), backups: times),
        Row(testDescription: "lost", error: .loss(loss)),
        Row(
            testDescription: "watermark",
            error: .loss(StateLoss(problem: .missingWatermark(last: 7), left: 7, known: 5))
        ),
        Row(
            testDescription: "damaged state.db",
            error: .storage(damagedRow),
            remedy: .continued(backup: backup, checkpointed: 7, last: 9)
        ),
        Row(
            testDescription: "damaged state.db, and a journal without its watermark",
            error: .storage(damagedRow),
            remedy: .continued(
                backup: backup,
                checkpointed: 7,
                last: 9,
                problem: "\(StorageError.missingWatermark(last: 9))"
            )
        ),
        Row(
            testDescription: "damaged state.db, and a gap in the journal",
            error: .storage(damagedRow),
            remedy: .behind(
                backup: backup,
                checkpointed: 7,
                problem: "Records 8 to 9 are in no file of the journal."
            )
        ),
        Row(
            testDescription: "damaged state.db, and a backup of another instance",
            error: .storage(damagedRow),
            remedy: .ofAnotherInstance(backup: backup)
        ),
        Row(testDescription: "missing state.db", error: .missingDatabase, remedy: .noBackup),
        Row(
            testDescription: "missing state.db, and a journal from the beginning",
            error: .missingDatabase,
            remedy: .continued(backup: "/srv/feed/journal", checkpointed: 0, last: 9)
        ),
        Row(
            testDescription: "half restore in place",
            error: .inPlaceInterrupted(path: "/srv/feed", backup: backup)
        ),
        Row(
            testDescription: "half state of another node",
            error: .installInterrupted(path: "/srv/feed", record: 7)
        ),
        Row(testDescription: "interrupted", error: .interruptedAcceptance(after: 7)),
        Row(
            testDescription: "half restore",
            error: .restoreInterrupted(path: "/srv/feed", source: restoreBackup, flags: [])
        ),
        Row(
            testDescription: "half restore of 0.1",
            error: .restoreInterrupted(path: "/srv/feed", source: nil, flags: [])
        ),
        Row(testDescription: "a cluster's", error: .ofCluster),
        Row(
            testDescription: "damage of a node",
            error: .loss(damagedSegment),
            backups: times,
            command: .serveNode
        ),
        Row(
            testDescription: "full at the beginning of a cluster",
            error: .full(neededByteCount: 70 << 20, freeByteCount: 0),
            command: .beginCluster
        ),
        Row(testDescription: "loss of a cluster", error: .unacceptedClusterLoss),
        Row(testDescription: "no record to begin a cluster behind", error: .noRecord),
        Row(
            testDescription: "full while a cluster is recovered",
            error: .full(neededByteCount: 70 << 20, freeByteCount: 0),
            command: .recoverCluster
        ),
        Row(
            testDescription: "newer level",
            error: .storage(.head(.newerLevel(record: 7, level: 9, known: 1)))
        ),
        Row(
            testDescription: "other chain",
            error: .storage(.head(.otherChain(record: 7, found: .max / 3, expected: 0xABCD)))
        ),
        Row(
            testDescription: "wrong number",
            error: .storage(.otherLossAccepted(accepted: 3, last: 7))
        ),
    ]

    @Test(arguments: rows)
    func isInTheDocumentWordForWord(_ row: Row) throws {
        let directory = try TemporaryDirectory()
        var path = "/srv/feed"
        if !row.backups.isEmpty { path = directory.path }
        for time in row.backups {
            let backup = "\(path)/backups/\(time)"
            try FileManager.default.createDirectory(
                atPath: backup,
                withIntermediateDirectories: true
            )
            try Data([1]).write(to: URL(filePath: "\(backup)/state.db"))
        }
        let refusal = StartRefusal(
            row.error,
            directory: path,
            command: row.command,
            remedy: row.remedy
        )
        let text = Self.general("feed-service: \(refusal)", path)
        let document = try Self.document()
        #expect(document.contains("```\n\(text)\n```"), "not in the document:\n\(text)")
    }

    @Test(
        arguments: [
            .missing(record: 7), .unexpected(record: 7),
            .otherCount(record: 7, found: 2, expected: 3),
        ] as [RecordHeadError]
    )
    func theFirstLineOfARecordWithoutItsHeadIsInTheDocument(_ error: RecordHeadError) throws {
        let refusal = StartRefusal(.storage(.head(error)), directory: "/srv/feed")
        #expect(refusal.exitStatus == 5)
        let line = Self.general("feed-service: \(error)", "/srv/feed")
        #expect("feed-service: \(refusal)".hasPrefix("feed-service: \(error)\n"))
        #expect(try Self.document().contains("\n\(line)\n"), "not in the document:\n\(line)")
    }

    @Test func aRefusedRestoreInPlaceIsInTheDocument() throws {
        let error = RestoreError.notContinued(
            backup: Self.backup,
            checkpointed: 7,
            problem: .missing(records: 8...9)
        )
        let refusal = StartRefusal(error, of: Self.backup, inPlaceOf: "/srv/feed")
        #expect(refusal.exitStatus == 5)
        let text = Self.general("feed-service: \(refusal)", "/srv/feed")
        #expect(try Self.document().contains("```\n\(text)\n```"), "not in the document:\n\(text)")
    }

    static let restoreErrors: [RestoreError] = [
        .noRoom(directory: "/srv/feed", neededByteCount: 9 << 20, freeByteCount: 1),
        .storage(.notEmpty(directory: "/srv/feed", name: "journal")),
        .noBackup(path: restoreBackup), .incomplete(path: restoreBackup, file: "state.db"),
    ]

    @Test(arguments: restoreErrors)
    func aRestoreThatIsRefusedIsInTheDocument(_ error: RestoreError) throws {
        let refusal = StartRefusal(
            error,
            of: RestoreSource(path: Self.restoreBackup),
            into: "/srv/feed"
        )
        let text = Self.general("feed-service: \(refusal)", "/srv/feed")
        #expect(try Self.document().contains("```\n\(text)\n```"), "not in the document:\n\(text)")
    }

    @Test("a checkpoint that was under way is told where its end is lost")
    func partlyCheckpointed() {
        var loss = Self.loss
        loss.partlyCheckpointed = 9
        let text = "\(StartRefusal(.loss(loss), directory: "/srv/feed"))"
        let words =
            "Records up to 7 are whole. state.db has a part of the records up to 9: some posts would "
            + "be of a later moment than others. What was acknowledged"
        #expect(text.contains(words), "\(text)")
    }

    @Test func aBackupThatIsStartedIsInTheDocument() throws {
        let path = "/srv/feed/backups/20260101T000000000Z"
        let refusal = StartRefusal(.backup(instanceID: 0xABCD), directory: path)
        let text = Self.general("feed-service: \(refusal)", "/srv/feed")
        #expect(try Self.document().contains("```\n\(text)\n```"), "not in the document:\n\(text)")
    }

    static let restoreBackup = "/mnt/backups/20260101T000000000Z"

    @Test func theNewestBackupComesFirst() throws {
        let directory = try TemporaryDirectory()
        for time in ["20260101T000000000Z", "20260102T000000000Z", "before-upgrade", "half"] {
            let backup = "\(directory.path)/backups/\(time)"
            try FileManager.default.createDirectory(
                atPath: backup,
                withIntermediateDirectories: true
            )
            guard time != "half" else { continue }
            try Data([1]).write(to: URL(filePath: "\(backup)/state.db"))
        }
        let error = StateStartError.storage(.brokenRecord(7, reason: "read: part 9"))
        let text = "\(StartRefusal(error, directory: directory.path))"
        let restore = "feed-service restore \(directory.path)/backups/20260102T000000000Z "
        #expect(text.contains(restore), "\(text)")
        let times = "20260102T000000000Z, 20260101T000000000Z"
        #expect(text.contains("newest first: \(times), before-upgrade."), "\(text)")
    }

    @Test func aNodeIsReplacedAndNotRestored() {
        let words = [RefusedCommand.serve(), .serveNode].map { command in
            "\(StartRefusal(.loss(Self.damagedSegment), directory: "/srv/feed", command: command))"
        }
        #expect(words[0] != words[1])
    }

    @Test func onlyWhatIsMissingHasToBeFreed() {
        let error = StateStartError.full(neededByteCount: 65 << 20, freeByteCount: 60 << 20)
        let text = "\(StartRefusal(error, directory: "/srv/feed"))"
        #expect(text.contains("Free 5 MiB on"), "\(text)")
    }

    @Test func aPathWithASpaceIsOneWord() {
        let text = "\(StartRefusal(.copied, directory: "/srv/my feed"))"
        #expect(text.contains("feed-service new-instance '/srv/my feed'"), "\(text)")
    }

    /// The words with the document's names for a path, numbers, instances and times.
    static func general(_ text: String, _ path: String) -> String {
        text.replacingOccurrences(of: path, with: "/srv/feed")
            .replacing(/\d{8}T\d{9}Z/) { _ in "TIME" }
            .replacing(/\d{4}-\d\d-\d\dT[\d:.]+Z/) { _ in "MOMENT" }
            .replacing(/\d{20}/) { _ in "N" }
            .replacing(/[0-9a-f]{16}/) { _ in "ID" }
            .replacing(/\d+/) { _ in "N" }
    }

    static func document() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/REFUSALS.md"), encoding: .utf8)
    }
}

/// The refusal to restore a moment is in `docs/REFUSALS.md` in the words that are printed.
@Suite struct MomentWordsTests {
    @Test(
        arguments: [
            (.journal(.missing(records: 8...9)), 5),
            (.wrongClock(revisions: 1234...1234), 2), (.wrongClock(revisions: 1234...1250), 2),
        ] as [(MomentProblem, Int32)]
    )
    func aMomentThatIsRefusedIsInTheDocument(problem: MomentProblem, status: Int32) throws {
        let error = RestoreError.noMoment(
            "/srv/feed",
            .time(Date(timeIntervalSince1970: 1_800_000_000)),
            problem,
            "Moments from 2027-01-15T06:00:00.123Z to 2027-01-15T07:59:59.000Z, record 7, can be had. "
                + "Each backup can be had as it is, the oldest one by --at 20270115T060000123Z."
        )
        let refusal = StartRefusal(
            error,
            of: RestoreSource(path: "/srv/feed", flags: ["--at", "2027-01-15T06:00:00Z"]),
            into: "/srv/feed.restored"
        )
        #expect(refusal.exitStatus == status)
        try expectInDocument(refusal)
    }

    @Test("the commands of a restore that is refused have its flag again")
    func momentIntoADirectoryInUse() throws {
        let error = RestoreError.storage(.locked(path: "/srv/feed", holder: 7))
        let refusal = StartRefusal(
            error,
            of: RestoreSource(path: "/srv/old", flags: ["--at", "2027-01-15T06:00:00Z"]),
            into: "/srv/feed"
        )
        try expectInDocument(refusal)
    }

    @Test("a restore that was interrupted is to be typed again with its flag")
    func interruptedMoment() throws {
        let error = StateStartError.restoreInterrupted(
            path: "/srv/feed",
            source: "/srv/old",
            flags: ["--at", "2027-01-15T06:00:00Z"]
        )
        let refusal = StartRefusal(error, directory: "/srv/feed")
        try expectInDocument(refusal)
    }

    private func expectInDocument(_ refusal: StartRefusal) throws {
        let text = RefusalWordsTests.general("feed-service: \(refusal)", "/srv/feed")
        #expect(
            try RefusalWordsTests.document().contains("```\n\(text)\n```"),
            "not in the document:\n\(text)"
        )
    }
}
