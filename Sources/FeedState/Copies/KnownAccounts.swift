package import FeedAccounts
internal import FeedJournal
internal import Foundation

/// The accounts of a state by number, with what became of them.
///
/// A state that was restored has accounts again that were deleted later: a newer state knows which.
package struct KnownAccounts: Sendable, Equatable {
    private struct Known: Equatable {
        let createTimeMilliseconds: Int64
        let erasure: AccountRow.Erasure?
    }

    private var accounts: [UInt64: Known] = [:]

    package init(_ state: AccountsState) {
        for row in state.accounts {
            accounts[row.id] = Known(
                createTimeMilliseconds: row.createTimeMilliseconds,
                erasure: row.status.erasure
            )
        }
    }

    /// The accounts that are here and that a newer state has deleted, in the order of their numbers, with
    /// what went with them; O(accounts).
    ///
    /// A number is the same account's only if the times of the sign-up are equal: the states may be of two
    /// services, or of two restores of one.
    package func deleted(in newer: KnownAccounts) -> [(id: UInt64, erasure: AccountRow.Erasure)] {
        newer.accounts.sorted { $0.key < $1.key }.compactMap { id, other in
            guard let erasure = other.erasure, let known = accounts[id], known.erasure == nil,
                known.createTimeMilliseconds == other.createTimeMilliseconds
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
