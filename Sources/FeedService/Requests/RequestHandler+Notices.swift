internal import FeedConcurrency
internal import FeedProto
internal import FeedRanking
internal import FeedState

/// The frames that the service sends beside the answers of an iteration.
extension RequestHandler {
    /// The refusal of a whole connection, as bytes.
    func refusal(_ status: Status) -> [UInt8] {
        do throws(FrameError) {
            return try ServerFrame(id: 0, revision: 0, status: status).encoded()
        } catch {
            preconditionFailure("A refusal fits into any frame: \(error)")
        }
    }

    /// Encodes GoAway: the connection is about to close, and this request was the last executed.
    mutating func sayGoAway(lastID: UInt64) {
        let goAway = GoAway(
            lastID: lastID,
            drainMilliseconds: UInt32(
                environment.context.limits.drainTimeout.millisecondsRoundedDown
            ),
            reason: .draining
        )
        answers.append(
            ServerFrame(id: 0, revision: environment.store.revision, response: .goAway(goAway))
        )
    }

    /// Encodes the answer to a request for a backup that arrived earlier.
    mutating func answerBackup(
        _ id: UInt64,
        _ result: Result<BackupSummary, BackupError>,
        arrival: MonotonicInstant
    ) {
        answers.calls.begin(at: arrival)
        answers.calls.add(.backup, 1, firstID: id)
        administration.answerBackup(id, result, &answers)
    }
}
