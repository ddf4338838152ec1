internal import FeedJournal
internal import FeedState
internal import Foundation

/// The output of `--accept-data-loss N --dry-run`.
enum AcceptedLossReport {
    /// Prints which records would stay and which would be dropped, and changes nothing.
    static func print(_ options: StateOptions) throws(ServiceStartError) {
        let found: StateVerification
        do throws(StateStartError) {
            found = try StateVerification.run(
                path: options.path,
                acceptedLoss: options.acceptedLoss
            )
        } catch {
            throw .refused(StartRefusal(error, directory: options.path))
        }
        Swift.print(
            "would serve \(found.postCount) posts, up to record \(found.lastRecord) "
                + "(\(found.recordCount) of the journal after the checkpoint at "
                + "\(found.checkpointedRecord))"
        )
        if let partly = found.partlyCheckpointed {
            Swift.print(StateLoss.partlyCheckpointedNote(partly))
        }
        Swift.print("would lose \(loss(found))")
        for part in found.droppedParts {
            let what = part.offset == 0 ? "all of it" : "what is after offset \(part.offset)"
            Swift.print("would move to \(options.path)/quarantine: \(part.file), \(what)")
        }
        if found.droppedParts.isEmpty { Swift.print("would move nothing to quarantine") }
        Swift.print("nothing was changed")
    }

    /// The records that would be lost, and the time of the first one.
    private static func loss(_ found: StateVerification) -> String {
        let last = found.lastRecord
        let count = found.lostRecordCount
        let records =
            count > 0
            ? "\(count) \(count == 1 ? "record" : "records") at least, \(last + 1) to \(last + count)"
            : "no record that is known of, or those after record \(last)"
        guard found.lastMicroseconds > 0 else { return records }
        let date = Date(timeIntervalSince1970: Double(found.lastMicroseconds) / 1_000_000)
        return
            "\(records), with the changes made after \(date.formatted(.iso8601)); a record has the "
            + "changes of about a millisecond"
    }
}
