package import FeedAccounts
internal import FeedJournal
internal import Foundation

/// The accounts of a state by number, with what became of them.
///
/// A state that was restored has accounts again that were deleted later: a newer state knows which.
package struct KnownAccounts: Sendable, Equatable {
    private var statuses: [UInt64: AccountRow.Status]

    init(_ state: AccountsState) {
        statuses = Dictionary(uniqueKeysWithValues: state.accounts.map { ($0.id, $0.status) })
    }

    /// The accounts that are here and that a newer state has deleted, in the order of their numbers, with
    /// what went with them; O(accounts).
    package func deleted(in newer: KnownAccounts) -> [(id: UInt64, erasure: AccountRow.Erasure)] {
        newer.statuses.sorted { $0.key < $1.key }.compactMap { id, status in
            guard let erasure = status.erasure, let known = statuses[id], known.erasure == nil
            else { return nil }
            return (id, erasure)
        }
    }

    /// The data directory whose `backups/` has a backup; nil if the path is no such one.
    package static func directory(ofBackup path: String) -> String? {
        let folder = URL(filePath: path).standardizedFileURL.deletingLastPathComponent()
        guard folder.lastPathComponent == BackupFolders.directory else { return nil }
        let directory = folder.deletingLastPathComponent().path
        let names = (try? POSIXFiles(reading: directory)).flatMap { try? $0.names(in: ".") }
        return names?.contains(StateDatabase.fileName) == true ? directory : nil
    }
}
