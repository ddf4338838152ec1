package import FeedConcurrency

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Why the files of a state, its journal or its database cannot be used: what was tried, on which path,
/// and the cause.
///
/// An enum, as most causes are of a record, a row or a directory, and no operation of the system.
package enum StorageError: Error, Equatable, Sendable {
    /// A call of the system failed: a verb as "write", the name of the file, and the code of errno.
    case system(String, String, code: Int32)
    case sqlite(SQLiteFailure)
    /// The disk is full, and the ballast did not suffice.
    indirect case outOfSpace(StorageError)
    /// A sync failed: whether the last record is on the disk is not known.
    indirect case syncFailed(StorageError)
    /// An append was refused, as an earlier failure stopped the journal.
    case journalStopped(reason: String)
    case stateStopped(reason: String)
    case thread(ThreadStartError)

    case locked(path: String, holder: Int?)
    case missingDirectory(path: String)
    case notADirectory(path: String)
    case wrongOwner(path: String, owner: UInt32, user: UInt32)
    /// The directory, or its file system, cannot be written.
    case readOnlyDirectory(path: String)
    case notEmpty(directory: String, name: String)
    case missingFile(path: String)
    /// A directory is no backup but a data directory, whose journal holds more than its database.
    case notABackup(path: String, name: String)
    /// A backup has a file that only a program makes that has changed it.
    case changedBackup(path: String, name: String)

    case newerFormat(file: String, format: Int64, known: Int64)
    case otherInstance(file: String, found: UInt64, expected: UInt64)
    /// A file is no database of this program's, or has lost a table.
    case notAState(file: String, reason: String)
    /// A copy was made in the middle of a checkpoint, so its posts are not of one moment.
    case unfinishedCheckpoint(file: String, record: UInt64)
    /// A row is not what was written, is missing, or is one too many.
    case damagedRow(table: String, key: String, reason: String)
    /// A file holds, at an offset, something else than the record that has to be there.
    case damagedRecord(file: String, offset: Int, record: UInt64, reason: String)
    case missing(records: ClosedRange<UInt64>)
    /// The journal ends before records that were durable once.
    case lost(records: ClosedRange<UInt64>)
    /// The journal has begun, and its watermark is missing or spoiled. So it is unknown whether
    /// records after the last one are lost.
    case missingWatermark(last: UInt64)
    /// The loss that was accepted is not the one that there is.
    case otherLossAccepted(accepted: UInt64, last: UInt64)
    case recordTooLarge(byteCount: Int, limit: Int)
    /// A record of the journal is whole, and holds no log entries, or what no store can have.
    case brokenRecord(UInt64, reason: String)
    /// A record of the journal does not continue those of its cluster.
    case head(RecordHeadError)
}

/// What SQLite says of a call.
package struct SQLiteFailure: Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// Another connection has the database.
        case locked
        /// The file, or what is in it, is not what SQLite wrote.
        case corrupt
        case readOnly
        /// The disk is full, or the quota on it is used up.
        case full
        /// The system could not read, write or sync.
        case io
        case constraint
        /// A statement does not fit the tables that the file has.
        case statement
        case other
    }

    package let kind: Kind
    /// What was tried: "open state.db", or the statement's text.
    package let operation: String
    /// SQLite's extended result code.
    package let code: Int32
    /// SQLite's own words.
    package let text: String

    package init(_ kind: Kind, operation: String, code: Int32, text: String) {
        self.kind = kind
        self.operation = operation
        self.code = code
        self.text = text
    }

    package var description: String {
        "Could not \(operation): \(text) (SQLite error \(code))."
    }
}

extension StorageError {
    /// What SQLite says, where it is SQLite's.
    package var sqlite: SQLiteFailure? {
        guard case .sqlite(let failure) = self else { return nil }
        return failure
    }

    /// Whether the disk, or what we may use of it, is full.
    package var isOutOfSpace: Bool {
        switch self {
        case .system(_, _, let code): code == ENOSPC || code == EDQUOT
        case .sqlite(let failure): failure.kind == .full
        case .outOfSpace: true
        default: false
        }
    }

    /// Whether the database, or a whole record of the journal, holds something else than was written to it.
    package var isDamage: Bool {
        switch self {
        case .damagedRow, .notAState, .brokenRecord: true
        case .head(let error): !error.isOfNewerProgram
        case .sqlite(let failure): failure.kind == .corrupt || failure.kind == .statement
        default: false
        }
    }

    /// Whether the path, or what we may do with it, is at fault.
    package var isOfPermission: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR].contains(code)
    }

    package var isForbidden: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return code == EACCES || code == EPERM
    }

    package var isMissing: Bool {
        guard case .system(_, _, ENOENT) = self else { return false }
        return true
    }

    /// Whether a signal came first, so that the call is to be made again.
    package var isInterruption: Bool {
        guard case .system(_, _, EINTR) = self else { return false }
        return true
    }
}

extension StorageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .system(let operation, let name, let code):
            return "Could not \(operation) \(name): \(unsafe String(cString: strerror(code))) "
                + "(error \(code))."
        case .sqlite(let failure): return Self.text(failure)
        case .outOfSpace(let error): return "The disk is full, without ballast. \(error)"
        case .syncFailed(let error): return "The last record may be durable or not. \(error)"
        case .journalStopped(let reason): return "The journal has stopped. \(reason)"
        case .stateStopped(let reason): return "The state is not written any more. \(reason)"
        case .thread(let error): return error.description
        case .locked(let path, let holder):
            let process = holder.map { "process \($0)" } ?? "another process"
            return "The data directory \(path) is in use by \(process)."
        case .missingDirectory(let path): return "There is no directory \(path)."
        case .notADirectory(let path): return "\(path) is no directory."
        case .wrongOwner(let path, let owner, let user):
            return "\(path) is of user \(owner), and this process is of user \(user)."
        case .readOnlyDirectory(let path): return "The data directory \(path) is read-only."
        case .notEmpty(let directory, let name):
            return "The directory \(directory) is not empty: it has \(name)."
        case .missingFile(let path): return "There is no file \(path)."
        case .notABackup(let path, let name):
            return "\(path) is no backup but a data directory, as it has \(name): start a service "
                + "on it, and make a backup of it then."
        case .changedBackup(let path, let name):
            return "The backup \(path) has a file \(name): another program has changed it. Use "
                + "another backup."
        case .newerFormat(let file, let format, let known):
            return "\(file) has format \(format); this program knows formats up to \(known)."
        case .otherInstance(let file, let found, let expected):
            return "\(file) is of instance \(hexadecimal(found)), and state.db is of instance "
                + "\(hexadecimal(expected))."
        case .notAState(let file, let reason): return "\(file) is damaged: \(reason)."
        case .unfinishedCheckpoint(let file, let number):
            return "\(file) was copied while records up to \(number) were written to it: "
                + "without the journal it is of no use."
        case .damagedRow(let table, let key, let reason):
            return "state.db is damaged in table \(table), \(key): \(reason)."
        case .damagedRecord(let file, let offset, let number, let reason):
            return "\(file) is damaged at offset \(offset), record \(number): \(reason)."
        case .missing(let records): return "\(Self.text(records)) in no file of the journal."
        case .lost(let records):
            return "\(Self.text(records)) lost: durable once, and not in the journal any more."
        case .missingWatermark(let last):
            return "durable.hwm is missing or spoiled: it proves that record \(last), with which "
                + "the journal ends, is the last one."
        case .otherLossAccepted(let accepted, let last):
            return "--accept-data-loss \(accepted) does not fit: the last record that is left is "
                + "\(last)."
        case .recordTooLarge(let byteCount, let limit):
            return "Record of \(byteCount) bytes exceeds the limit of \(limit) bytes."
        case .head(let error): return error.description
        case .brokenRecord(let number, let reason):
            return "Record \(number) of the journal cannot be \(reason)"
        }
    }

    private static func text(_ records: ClosedRange<UInt64>) -> String {
        records.lowerBound == records.upperBound
            ? "Record \(records.lowerBound) is"
            : "Records \(records.lowerBound) to \(records.upperBound) are"
    }

    /// A failure of SQLite's without the statement, which says nothing to an operator.
    private static func text(_ failure: SQLiteFailure) -> String {
        let text = "\(failure.text) (SQLite error \(failure.code))"
        return switch failure.kind {
        case .corrupt: "state.db is damaged: \(text)."
        case .locked: "state.db is in use by another program: \(text)."
        case .full: "The disk is full, state.db cannot be written: \(text)."
        case .statement: "state.db is damaged: its tables are others than were made: \(text)."
        case .readOnly, .io, .constraint, .other: "state.db cannot be read or written: \(text)."
        }
    }
}

/// A number as instances are shown: 16 hexadecimal digits.
package func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
