internal import Foundation

extension OfflineStore {
    /// Opens a file, or moves one aside that cannot be read and begins a new one.
    ///
    /// - Returns: The store, and what to tell the person.
    static func open(
        _ configuration: OfflineConfiguration
    ) throws(OfflineError) -> (store: OfflineStore, notice: OfflineNotice?) {
        do throws(OfflineError) {
            let store = try OfflineStore(configuration)
            return (store, store.notice)
        } catch {
            guard case .damaged(let reason) = error else { throw error }
            let movedTo = try moveAside(configuration.path)
            let notice = OfflineNotice.outboxLost(movedTo: movedTo, reason: reason)
            return (try OfflineStore(configuration), notice)
        }
    }

    /// Makes an empty file where there is none.
    ///
    /// Only its owner may read and write it: it has the id of the device, which casts ballots, and what a
    /// person has written. SQLite gives the same rights to the log beside it.
    static func makeFile(_ path: String) throws(OfflineError) {
        let files = FileManager.default
        guard !files.fileExists(atPath: path) else { return }
        let isMade = files.createFile(
            atPath: path,
            contents: nil,
            attributes: [.posixPermissions: 0o600]
        )
        guard isMade else { throw .file(reason: "Could not make \(path).") }
    }

    /// Renames a file and its log, so that a person can still look at them; returns the new path.
    static func moveAside(_ path: String) throws(OfflineError) -> String {
        let files = FileManager.default
        var movedTo = path + ".damaged"
        var number = 1
        while files.fileExists(atPath: movedTo) {
            number += 1
            movedTo = path + ".damaged-\(number)"
        }
        do {
            try files.moveItem(atPath: path, toPath: movedTo)
            if files.fileExists(atPath: path + "-wal") {
                try files.moveItem(atPath: path + "-wal", toPath: movedTo + "-wal")
            }
        } catch {
            throw .file(reason: "Could not move \(path) aside: \(error.localizedDescription)")
        }
        return movedTo
    }
}
