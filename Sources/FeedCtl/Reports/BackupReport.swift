package import FeedProto
internal import FeedText

/// A backup that was made, as `backup` reports it.
package struct BackupReport: Report, Equatable {
    let name: String
    let revision: UInt64

    /// The report of a backup.
    package init(_ backup: BackupResponse) {
        name = backup.name
        revision = backup.revision
    }

    /// One line.
    package func text(_ style: TextStyle) -> String {
        "Backup \(VisibleText.line(name)) holds revision \(revision).\n"
    }
}
