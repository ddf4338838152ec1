package import FeedJournal
internal import FeedSQLite
package import Foundation

package enum RestoreError: Error, Equatable, Sendable {
    case noBackup(path: String)
    case within(source: String, directory: String)
    case incomplete(path: String, file: String)
    case noRoom(directory: String, neededByteCount: Int, freeByteCount: Int)
    /// To be put in the place of `state.db`: the journal of the directory does not continue the backup,
    /// whose last record is named.
    case notContinued(backup: String, checkpointed: UInt64, problem: StorageError)
    /// The journal alone was to be put in the place of `state.db`, and does not have all of it; without a
    /// problem it is whole, and continues a state that it does not have.
    case notAll(journal: String, problem: StorageError?)
    /// The data directory does not have the state of a moment; the last text says which moments it has.
    case noMoment(String, RestoreMoment, MomentProblem, String)
    /// A state of another node is taking the place of the directory's own.
    case installing(directory: String, record: UInt64)
    /// The backup cannot be used, or the directory cannot be made.
    case storage(StorageError)
}

package enum MomentProblem: Equatable, Sendable {
    case noBackup
    case future(Date)
    /// No change has got the revision yet; the newest one has this.
    case newestRevision(UInt64)
    /// The newest backup before it is damaged, and so are all older ones, or there are none.
    case damagedBackup(String, StorageError)
    /// The times of records around it are those of a wrong clock; by them it would be one of these revisions.
    case wrongClock(revisions: ClosedRange<UInt64>)
    case journal(StorageError)
}

extension RestoreError {
    /// What the process exits with, as ``StateStartError/exitStatus``; 1 where the disk is full.
    package var exitStatus: Int32 {
        switch self {
        case .noBackup, .incomplete, .within: 2
        case .noMoment(_, _, .journal(let error), _): error.exitStatus
        case .noMoment(_, _, .damagedBackup, _): 5
        case .noMoment: 2
        case .installing: 5
        case .notAll(_, let problem): problem?.exitStatus ?? 5
        case .noRoom: 1
        case .notContinued(_, _, let error), .storage(let error): error.exitStatus
        }
    }

    var isOutOfSpace: Bool {
        guard case .storage(let error) = self else { return false }
        return error.isOutOfSpace
    }
}

extension RestoreError: CustomStringConvertible {
    private static func text(_ problem: StorageError) -> String {
        guard case .otherInstance(let file, let found, let expected) = problem else {
            return "\(problem)"
        }
        return "\(file) is of instance \(hexadecimal(found)), and the backup of instance "
            + "\(hexadecimal(expected))."
    }

    private static func text(_ problem: MomentProblem, _ moment: RestoreMoment) -> String {
        switch (problem, moment) {
        case (.noBackup, .backup): "there is no complete backup of that name."
        case (.noBackup, _): "no backup was made before it."
        case (.future(let now), _): "it is \(now.milliseconds) now."
        case (.newestRevision(let newest), _): "the newest revision is \(newest)."
        case (.journal(let error), _): "\(error)"
        case (.damagedBackup(let name, let error), _):
            "the backup \(name) is damaged, and no older one leads to it. \(error)"
        case (.wrongClock(let found), _):
            "the clock was wrong around it, or was set, and the times of records cannot be trusted. By "
                + "them it is --at-revision \(found.lowerBound)"
                + (found.count == 1 ? "." : ", or a later one up to \(found.upperBound).")
        }
    }

    package var description: String {
        switch self {
        case .noBackup(let path):
            "There is no directory \(path) to restore from."
        case .within(let source, let directory):
            "The directory \(directory) is within \(source), which is to be restored."
        case .incomplete(let path, let file):
            "\(path) is no complete backup: it has no file \(file)."
        case .noRoom(let directory, let needed, let free):
            "To restore into \(directory) takes up to \(needed) bytes, and the disk has \(free) bytes "
                + "free."
        case .notContinued(let backup, let checkpointed, let problem):
            "The journal does not continue the backup \(backup), whose last record is "
                + "\(checkpointed): " + Self.text(problem)
        case .notAll(let journal, let problem):
            "\(journal) does not have all of the state from the beginning: "
                + (problem?.description
                    ?? "it goes on from a state that it does not have, as after a restore.")
        case .noMoment(let path, let moment, let problem, let reach):
            "\(path) does not have the state of \(moment): " + Self.text(problem, moment)
                + (reach.isEmpty ? "" : " \(reach)")
        case .installing(let directory, let record):
            "\(StateStartError.installInterrupted(path: directory, record: record))"
        case .storage(let error): error.description
        }
    }
}

package enum RestoreMoment: Equatable, Sendable {
    /// As it was at a time: with all commit batches that began by then.
    case time(Date)
    /// As it was at a revision: with all commit batches that have no later one.
    case revision(UInt64)
    /// As a backup has it, which is named by its folder in `backups/`.
    case backup(String)

    /// Whether a commit batch that began at a time, and up to whose end a revision is the highest, is in the
    /// state of the moment.
    func includes(microseconds: Int64, revision: UInt64) -> Bool {
        switch self {
        case .time(let date): microseconds <= Int64(clamping: date.unixMicroseconds)
        case .revision(let last): revision <= last
        case .backup: false
        }
    }

    /// Whether a backup is of a time before the moment, or of the moment itself.
    func includes(backup name: String, revision: UInt64) -> Bool {
        switch self {
        case .time(let date): BackupFolders.time(of: name).map { $0 <= date } ?? false
        case .revision(let last): revision <= last
        case .backup(let wanted): name == wanted
        }
    }
}

extension RestoreMoment: CustomStringConvertible {
    package var description: String {
        switch self {
        case .time(let date): date.milliseconds
        case .revision(let last): "revision \(last)"
        case .backup(let name): "the backup \(name)"
        }
    }
}

extension Date {
    /// Whole microseconds since 1970; 0 before that.
    var unixMicroseconds: UInt64 {
        UInt64(max(0, (timeIntervalSince1970 * 1_000_000).rounded(.down)))
    }

    package init(unixMicroseconds: UInt64) {
        self.init(timeIntervalSince1970: Double(unixMicroseconds) / 1_000_000)
    }

    /// The time in UTC to the millisecond, as `2026-11-25T14:05:00.000Z`.
    package var milliseconds: String {
        // The style cuts the rest of a millisecond off, and seconds as a Double may lie just below.
        let milliseconds = (timeIntervalSince1970 * 1000 + 0.001).rounded(.down)
        return Date(timeIntervalSince1970: (milliseconds + 0.5) / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
