package import Foundation

/// What a state is restored to.
package enum RestoreMoment: Equatable, Sendable {
    /// As it was at a time: with all commit batches that began by then.
    case time(Date)

    /// As it was at a revision: with all commit batches that have no later one.
    case revision(UInt64)

    /// As a backup has it, which is named by its folder in `backups/`.
    case backup(String)
}

extension RestoreMoment {
    /// Whether a commit batch is in the state of the moment.
    ///
    /// - Parameters:
    ///   - microseconds: When it began, since 1970.
    ///   - revision: The highest revision up to its end.
    /// - Returns: Whether it is.
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

    /// A time of the journal's records.
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
