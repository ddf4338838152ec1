internal import FeedState
internal import Logging

extension StateEvents {
    /// Logs the events of backups.
    func report(_ event: BackupEvent) {
        switch event {
        case .began(let name, let byteCount):
            logger.info("backup \(name): begun, \(byteCount) bytes to copy")
        case .done(let backup, let took, let removed):
            let milliseconds = Int(took / .milliseconds(1))
            let rest = removed.isEmpty ? "" : "; removed the oldest: \(list(removed))"
            logger.notice(
                "backup \(backup.name): complete, \(backup.byteCount) bytes in \(milliseconds) ms\(rest)"
            )
        case .failed(let error): warn(of: error)
        case .removedLeftovers(let names):
            logger.notice("removed backups that were not complete: \(list(names))")
        }
    }

    private func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
