internal import FeedJournal

/// What a start does about the loss that its options accept.
enum AcceptedLoss {
    /// No loss is accepted, or none has happened.
    case none
    /// The loss is accepted now. The scan has what is left of the journal.
    case begin(RecoveryScan)
    /// An earlier start has begun to accept the loss, and was interrupted.
    case finish(RecoveryScan)

    /// What is left of the journal; nil without a loss.
    var scan: RecoveryScan? {
        switch self {
        case .none: nil
        case .begin(let scan), .finish(let scan): scan
        }
    }
}

extension StateDirectory {
    /// Whether the options accept a loss that has happened.
    ///
    /// - Throws: `interruptedAcceptance` where an acceptance is unfinished and the options accept
    ///   none. `otherLossAccepted` where they name another record than the last one that is left.
    func acceptedLoss(_ database: StateDatabase) throws(StateStartError) -> AcceptedLoss {
        let unfinished = database.directoryRow?.acceptedLoss
        guard let accepted = options.acceptedLoss else {
            if let unfinished { throw .interruptedAcceptance(after: unfinished) }
            return .none
        }
        let loss: AcceptedLoss =
            if unfinished != nil { .finish(try scan(database)) } else { try openLoss(database) }
        if let left = loss.scan?.last.number, left != accepted {
            throw .journal(.otherLossAccepted(accepted: accepted, last: left))
        }
        return loss
    }

    /// A loss to accept, or one whose acceptance version 0.1 has not finished.
    private func openLoss(_ database: StateDatabase) throws(StateStartError) -> AcceptedLoss {
        do throws(StateStartError) {
            let scan = try scan(database)
            let isWhole = scan.last.number >= database.meta.checkpointing.number
            return scan.problem == nil && isWhole ? .none : .begin(scan)
        } catch {
            // Version 0.1 has changed the instance of `state.db`, and of some segments only.
            guard case .journal(.otherInstance) = error, database.directoryRow == nil else {
                throw error
            }
            return .begin(try scan(database, acceptsAnyInstance: true))
        }
    }
}
