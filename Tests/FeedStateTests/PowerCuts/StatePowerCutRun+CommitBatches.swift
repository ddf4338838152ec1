import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport

// What the threads behind the loops do, and what is checked after a start.
extension StatePowerCutRun {
    /// Makes durable what was logged, then answers it.
    mutating func commit(_ life: inout DurableLife) throws {
        var body: [UInt8] = []
        guard let commitBatch = life.state.logs.takeBatch(into: &body) else { return }
        let snapshot = Snapshot(
            model: model,
            hash: life.store.stateHash() &+ model.viewers.accountsState.stateHash
        )
        if fault == .earlyAnswer { answer(snapshot) }
        inFlight = snapshot
        hashes[commitBatch.number] = snapshot.hash
        let position = try life.state.journal.append(
            body.span,
            count: UInt32(commitBatch.entryCount),
            at: 0
        )
        guard position.number == commitBatch.number else {
            throw Complaint(text: "A batch has two numbers.")
        }
        answer(snapshot)
        inFlight = nil
        try life.state.checkpointWork.add(body, at: position)
    }

    /// All calls of the commit batch are answered, save a vote batch that is not at its end.
    private mutating func answer(_ snapshot: Snapshot) {
        durable = snapshot
        answered += pending.filter(isDone)
        pending = pending.filter { !isDone($0) }
    }

    private func isDone(_ call: ClientCall) -> Bool {
        guard case .batch(let ids) = call.command,
            case .items(let mask) = durable.model.calls[call.channel]?[call.sequence]
        else { return true }
        return ids.indices.allSatisfy { mask[$0] }
    }

    /// Writes a step, or begins a checkpoint; the journal forgets checkpointed records.
    mutating func checkpoint(_ life: inout DurableLife) throws {
        if life.state.checkpointWork.isCheckpointing {
            let limit = Int.random(in: 1...15, using: &generator)
            try life.state.checkpointWork.writeStep(changes: limit, until: { false })
            guard !life.state.checkpointWork.isCheckpointing else { return }
            checkpointCount += 1
            let checkpointed = life.state.checkpointWork.database.meta.checkpointed.number
            try life.state.journal.forget(through: checkpointed)
        } else if life.state.checkpointWork.addedByteCount > 0 {
            life.state.checkpointWork.begin()
            guard fault == .earlyForget else { return }
            try life.state.journal.forget(through: life.state.journal.last.number)
        }
    }

    /// Throws unless a start has found all that was answered, and all or nothing of the commit
    /// batch under way.
    mutating func audit(_ life: borrowing DurableLife) throws {
        life.store.checkInvariants()
        let candidates = [durable] + (inFlight.map { [$0] } ?? [])
        let alike = candidates.filter { $0.model.difference(to: life) == nil }
        guard !alike.isEmpty else {
            throw Complaint(text: durable.model.difference(to: life) ?? "")
        }
        // Both are alike where nothing is in flight but marks that say nothing any more.
        let hash = life.stateHash
        guard let found = alike.first(where: { $0.hash == nil || $0.hash == hash }) else {
            throw Complaint(text: "The state is the same, and its hash another.")
        }
        // No revision that anybody has seen is given again.
        let seen = max(durable.model.revision, inFlight?.model.revision ?? 0)
        guard found.hash == nil || life.store.revision > seen else {
            throw Complaint(text: "Revision \(life.store.revision) is not above \(seen).")
        }
        // From here on it stands, acknowledged or not.
        model = found.model
        model.revision = life.store.revision
        durable = Snapshot(model: model, hash: hash)
        inFlight = nil
        hashes[life.state.summary.last.number] = hash
        answered.removeAll { model.calls[$0.channel]?[$0.sequence] == nil }
    }
}
