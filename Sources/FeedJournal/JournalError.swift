/// Why a journal cannot be opened, or takes no more records.
package enum JournalError: Error, Equatable, Sendable {
    case locked(path: String, holder: Int?)
    case missingDirectory(path: String)
    case notADirectory(path: String)
    case wrongOwner(path: String, owner: UInt32, user: UInt32)
    /// The directory, or its file system, cannot be written.
    case readOnlyDirectory(path: String)
    case newerFormat(file: String, version: UInt32, known: UInt32)
    case otherInstance(file: String, found: UInt64, expected: UInt64)
    /// A file holds, at an offset, something else than the record that has to be there.
    case damaged(file: String, offset: Int, record: UInt64, reason: String)
    case missing(records: ClosedRange<UInt64>)
    /// The journal ends before records that were durable once.
    case lost(records: ClosedRange<UInt64>)
    /// The journal has begun, and its watermark is missing or spoiled. So it is unknown whether
    /// records after the last one are lost.
    case missingWatermark(last: UInt64)
    /// The loss that was accepted is not the one that there is.
    case otherLossAccepted(accepted: UInt64, last: UInt64)
    case recordTooLarge(byteCount: Int, limit: Int)
    /// The disk is full, and the ballast did not suffice.
    case outOfSpace(FileError)
    /// A sync failed: whether the last record is on the disk is not known.
    case syncFailed(FileError)
    case file(FileError)
    /// An append was refused, as an earlier failure stopped the journal.
    case stopped(reason: String)
}

/// Calls `body`, whose failures of single files become the journal's.
func fileErrors<Result>(_ body: () throws(FileError) -> Result) throws(JournalError) -> Result {
    do {
        return try body()
    } catch {
        throw .file(error)
    }
}

extension JournalError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .locked(let path, let holder):
            let process = holder.map { "process \($0)" } ?? "another process"
            return "The data directory \(path) is in use by \(process)."
        case .missingDirectory(let path): return "There is no directory \(path)."
        case .notADirectory(let path): return "\(path) is no directory."
        case .wrongOwner(let path, let owner, let user):
            return "\(path) is of user \(owner), and this process is of user \(user)."
        case .readOnlyDirectory(let path): return "The data directory \(path) is read-only."
        case .newerFormat(let file, let version, let known):
            return "\(file) has format \(version); this program knows formats up to \(known)."
        case .otherInstance(let file, let found, let expected):
            return "\(file) is of instance \(hexadecimal(found)), and state.db is of instance "
                + "\(hexadecimal(expected))."
        case .damaged(let file, let offset, let number, let reason):
            return "\(file) is damaged at offset \(offset), record \(number): \(reason)."
        case .missing(let records): return "\(text(records)) in no file of the journal."
        case .lost(let records):
            return "\(text(records)) lost: durable once, and not in the journal any more."
        case .missingWatermark(let last):
            return "durable.hwm is missing or spoiled: it proves that record \(last), with which "
                + "the journal ends, is the last one."
        case .otherLossAccepted(let accepted, let last):
            return "--accept-data-loss \(accepted) does not fit: the last record that is left is "
                + "\(last)."
        case .recordTooLarge(let byteCount, let limit):
            return "Record of \(byteCount) bytes exceeds the limit of \(limit) bytes."
        case .outOfSpace(let error): return "The disk is full, without ballast. \(error)"
        case .syncFailed(let error): return "The last record may be durable or not. \(error)"
        case .file(let error): return error.description
        case .stopped(let reason): return "The journal has stopped. \(reason)"
        }
    }

    private func text(_ records: ClosedRange<UInt64>) -> String {
        records.lowerBound == records.upperBound
            ? "Record \(records.lowerBound) is"
            : "Records \(records.lowerBound) to \(records.upperBound) are"
    }
}

/// A number as instances are shown: 16 hexadecimal digits.
package func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
