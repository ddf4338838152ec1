internal import FeedJournal

/// Writes records of a journal into a database that nobody serves, as checkpoints do.
final class CheckpointReplay {
    private var work: CheckpointWork

    /// A replay of the records after the database's own.
    init(_ database: StateDatabase) {
        work = CheckpointWork(
            database,
            checkpointByteCount: CheckpointWork.replayedByteCount
        )
    }

    /// Takes the next record.
    func add(_ body: [UInt8], at position: JournalPosition) throws(StateError) {
        do throws(StateStartError) {
            try work.add(body, at: position)
        } catch {
            throw Self.stateError(error, position.number)
        }
        if work.isFull { try write() }
    }

    /// Writes what was taken.
    func write() throws(StateError) {
        work.begin()
        while work.isCheckpointing {
            do throws(StateStartError) {
                try work.writeStep(until: { false })
            } catch {
                throw Self.stateError(error, work.database.meta.checkpointed.number)
            }
            // Nobody makes room meanwhile.
            if let stall = work.stall { throw stall }
        }
    }

    private static func stateError(_ error: StateStartError, _ record: UInt64) -> StateError {
        guard case .state(let error) = error else {
            return .notAState(file: "Record \(record) of the journal", reason: "\(error)")
        }
        return error
    }
}

extension CheckpointWork {
    /// How many bytes of records a replay takes for one checkpoint, 64 MiB.
    fileprivate static let replayedByteCount = 64 << 20
}

@available(*, unavailable)
extension CheckpointReplay: Sendable {}
