import FeedConcurrency
import FeedJournal
import FeedSQLite
import FeedState
import Foundation
import Testing

/// What a process exits with, and which way on it names, for every error of files, journal and database.
@Suite struct StorageErrorTests {
    /// The first words of the first way on.
    enum Way: String, Sendable {
        case system = "Look at the disk, the path and the rights"
        case rights = "The service runs as user"
        case room = "Free 65 MiB on the file system of the directory"
        case putBack = "If you have state.db as it was, put it back"
        case keep = "Keep the directory: its files are whole"
        case close = "Close the other program"
        case stop = "Stop the other service"
        case program = "Start the version of feed-service that wrote the directory"
        case mount = "Mount the disk, or correct the path"
        case move = "Move the files of the other directory away"
        case owner = "Start as the user who owns the files"
        case write = "Give the right to write"
        case look = "See what would be dropped"
        case threads = "Let the user run more threads"
    }

    private static func system(_ code: Int32) -> StorageError { .system("open", "x", code: code) }

    private static func sqlite(_ kind: SQLiteFailure.Kind) -> StorageError {
        .sqlite(SQLiteFailure(kind, operation: "open state.db", code: 1, text: "it failed"))
    }

    struct Row: Sendable {
        let error: StorageError
        let status: Int32
        let way: Way

        init(_ error: StorageError, _ status: Int32, _ way: Way) {
            self.error = error
            self.status = status
            self.way = way
        }
    }

    static let rows: [Row] = [
        Row(system(EACCES), 2, .rights), Row(system(EPERM), 2, .rights),
        Row(system(EROFS), 2, .system),
        Row(system(ENOENT), 2, .system), Row(system(ENOTDIR), 2, .system),
        Row(system(EISDIR), 2, .system),
        Row(system(EIO), 1, .system), Row(system(EINTR), 1, .system), Row(system(ENOSPC), 1, .room),
        Row(system(EDQUOT), 1, .room), Row(.outOfSpace(system(ENOSPC)), 1, .room),
        // Whether the record is written is not known: room does not help.
        Row(.syncFailed(system(ENOSPC)), 1, .system), Row(.syncFailed(system(EACCES)), 1, .system),
        Row(sqlite(.locked), 3, .close), Row(sqlite(.corrupt), 5, .putBack),
        Row(sqlite(.statement), 5, .putBack), Row(sqlite(.full), 1, .system),
        Row(sqlite(.readOnly), 1, .system), Row(sqlite(.io), 1, .system),
        Row(sqlite(.constraint), 1, .system), Row(sqlite(.other), 1, .system),
        Row(.journalStopped(reason: "why"), 1, .system),
        Row(.stateStopped(reason: "why"), 1, .system),
        Row(.locked(path: "/srv/feed", holder: 5), 3, .stop),
        Row(.missingDirectory(path: "/srv/feed"), 2, .mount),
        Row(.notADirectory(path: "/srv/feed"), 2, .mount),
        Row(.notEmpty(directory: "/srv/feed", name: "x"), 2, .system),
        Row(.missingFile(path: "/srv/feed/state.db"), 2, .system),
        Row(.notABackup(path: "/srv/feed", name: "journal"), 2, .system),
        Row(.changedBackup(path: "/srv/feed", name: "state.db-wal"), 2, .system),
        Row(.newerFormat(file: "state.db", format: 9, known: 1), 4, .program),
        Row(.notAState(file: "state.db", reason: "the file is empty"), 5, .putBack),
        Row(.damagedRow(table: "posts", key: "row 7", reason: "gone"), 5, .putBack),
        Row(.brokenRecord(7, reason: "read: part 9"), 5, .keep),
        Row(.unfinishedCheckpoint(file: "state.db", record: 7), 5, .system),
        Row(.damagedRecord(file: "x", offset: 1, record: 7, reason: "why"), 5, .system),
        Row(.missing(records: 7...8), 5, .system), Row(.lost(records: 7...8), 5, .system),
        Row(.missingWatermark(last: 7), 5, .system),
        Row(.recordTooLarge(byteCount: 9, limit: 8), 1, .system),
        Row(.otherInstance(file: "x", found: 1, expected: 2), 4, .move),
        Row(.wrongOwner(path: "/srv/feed", owner: 12, user: 34), 2, .owner),
        Row(.readOnlyDirectory(path: "/srv/feed"), 2, .write),
        Row(.otherLossAccepted(accepted: 3, last: 7), 5, .look),
        Row(.thread(ThreadStartError(name: "feed-load", code: EAGAIN)), 1, .threads),
    ]

    @Test(arguments: rows)
    func hasItsExitCodeAndItsWayOn(_ row: Row) {
        let refusal = StartRefusal(.storage(row.error), directory: "/srv/feed", remedy: .noBackup)
        #expect(refusal.exitStatus == row.status)
        let steps = "\(refusal)".components(separatedBy: "What to do: ").dropFirst()
        #expect(steps.first?.hasPrefix(row.way.rawValue) == true, "\(refusal)")
    }

    @Test(
        "what a checkpoint, a start and a restore make room after is a full disk and no other error"
    )
    func fullDisks() {
        let full = Self.rows.map(\.error).filter(\.isOutOfSpace)
        let known = [
            Self.system(ENOSPC), Self.system(EDQUOT), .outOfSpace(Self.system(ENOSPC)),
            Self.sqlite(.full),
        ]
        #expect(full == known)
    }

    @Test("what makes a backup or state.db unusable is damage of what was written, not of the disk")
    func damages() {
        let damages = Self.rows.map(\.error).filter(\.isDamage)
        let known = Self.rows.filter { $0.way == .putBack || $0.way == .keep }.map(\.error)
        #expect(damages == known)
    }
}
