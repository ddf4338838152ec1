internal import FeedConcurrency
internal import FeedJournal
internal import FeedLog
internal import FeedReplica

// What a leader commits.
extension ReplicatedNode {
    /// The bodies that are kept to make commit batches in.
    private static let spareCount = ProposalWindow.maximumCount
    private static let recordLimit = StateOptions.maximumReplicatedRecordByteCount

    /// When a leader has something to propose; nil while it has not, or has to wait for a word.
    var proposalTime: ContinuousClock.Instant? {
        guard !awaitsRole else { return nil }
        if window.hasRefusals { return window.retryTime }
        if let change = changes.begun { return window.isEmpty && !change.isSaid ? now : nil }
        guard logs.hasOpenEntry || changes.hasWaiting || raisesLevel,
            window.hasRoom(for: logs.waitingByteCount)
        else { return nil }
        return nextBegin
    }

    /// Whether a record is due that says a higher level, as no batch will.
    private var raisesLevel: Bool {
        commonLevel > chain.level && window.isEmpty && !logs.hasOpenEntry
            && !changes.hasWaiting
    }

    mutating func propose() throws(StorageError) {
        guard case .leading(let term) = phase, let proposalTime, now >= proposalTime else { return }
        if window.hasRefusals {
            for proposal in window.retry() { send(proposal, term) }
        } else if let begun = changes.say() {
            let change = begun.change
            say(
                .member(
                    term: term,
                    index: begun.index,
                    change.kind,
                    node: change.node,
                    text: change.text
                )
            )
        } else {
            try proposeBatch(term)
        }
    }

    /// Proposes the open commit batch, and leaves the index behind it out if a change of the members waits.
    private mutating func proposeBatch(_ term: UInt64) throws(StorageError) {
        var body = spares.popLast() ?? []
        let openTime = owner.progress.openTime
        // Before the batch: no post of a later record has an earlier time.
        lastMicroseconds = max(SystemClock.unixMicroseconds(), lastMicroseconds)
        let raises = raisesLevel
        let batch = logs.takeBatch(
            into: &body,
            after: chain.headByteCount,
            leavingOutNext: changes.hasWaiting || raises
        )
        if changes.hasWaiting { changes.begin(at: logs.openBatch - 1) }
        if let batch {
            // The logs are empty, and may not be filled again with what has just been taken.
            upkeep.admit(committing: body.count)
            let (number, entryCount) = batch
            try propose(&body, number, entryCount: entryCount, openTime: openTime, term)
            nextBegin = now + max(ReplicatedJournal.interval, upkeep.admission.commitDelay)
        } else {
            spares.append(body)
        }
        if raises { try proposeEmpty(logs.openBatch - 1, term) }
    }

    /// Proposes a record without log entries, for an index that no batch has.
    private mutating func proposeEmpty(_ index: UInt64, _ term: UInt64) throws(StorageError) {
        var body = [UInt8](repeating: 0, count: chain.headByteCount)
        let openTime = SystemClock.monotonicNanoseconds()
        try propose(&body, index, entryCount: 0, openTime: openTime, term)
    }

    mutating func propose(
        _ body: inout [UInt8],
        _ index: UInt64,
        entryCount: Int,
        openTime: UInt64,
        _ term: UInt64
    ) throws(StorageError) {
        precondition(
            body.count <= Self.recordLimit,
            "A record has \(body.count) bytes, and an entry of the cluster's log has at most "
                + "\(Self.recordLimit)."
        )
        precondition(
            index == last + UInt64(window.proposals.count) + 1,
            "A commit batch is the record of the same number."
        )
        chain.seal(&body, entryCount: entryCount, at: lastMicroseconds, level: commonLevel)
        _ = try headErrors { () throws(RecordHeadError) in
            try chain.take(body.span, record: index)
        }
        let hash = chain.hash
        owner.chains.withLock { $0.append(index, hash) }
        let proposal = ProposalWindow.Proposal(
            index: index,
            body: body,
            entryCount: entryCount,
            level: chain.level,
            microseconds: lastMicroseconds,
            began: now,
            openTime: openTime,
            provenRound: owner.rounds.lastClosed
        )
        owner.progress.noteTaken(since: openTime, oldest: window.proposals.first?.openTime)
        window.append(proposal)
        send(proposal, term)
    }

    private func send(_ proposal: ProposalWindow.Proposal, _ term: UInt64) {
        let word = ServiceWord.propose(term: term, index: proposal.index)
        connection?.send(word, body: proposal.body.span)
    }

    /// A majority has all proposals up to an index: they are appended, and then their answers are released.
    mutating func commit(through index: UInt64, _ term: UInt64) throws(StorageError) {
        guard case .leading(term) = phase, index > last, index <= window.proposals.last?.index ?? 0
        else { return lose("COMMITTED came of record \(index) in term \(term), not proposed") }
        var round = provenRound
        while let proposal = window.removeFirst(through: index) {
            round = max(round, proposal.provenRound)
            try append(proposal)
        }
        commits.durable(index)
        if let oldest = window.proposals.first {
            owner.progress.noteTaken(since: oldest.openTime)
        }
        prove(round)
        try upkeep.forget()
    }

    private mutating func append(_ proposal: ProposalWindow.Proposal) throws(StorageError) {
        let position = try upkeep.journal.append(
            proposal.body.span,
            count: UInt32(clamping: proposal.entryCount),
            at: proposal.microseconds
        )
        let duration = proposal.began.duration(to: now)
        owner.note(level: proposal.level)
        owner.progress.noteDurable(proposal.index)
        owner.progress.statistics.count(
            entryCount: proposal.entryCount,
            byteCount: proposal.body.count,
            took: duration
        )
        upkeep.admission.observe(byteCount: proposal.body.count, took: duration)
        if duration > JournalAdmission.slowCommit { commits.slow(duration) }
        let spare = receiver.submit(proposal.body, at: position)
        if spares.count < Self.spareCount { spares.append(spare) }
    }

    mutating func refused(
        _ index: UInt64,
        _ reason: RefusalReason,
        _ text: String
    ) throws(StorageError) {
        guard case .leading(let term) = phase else { return }
        switch reason {
        case .notLeader, .otherTerm:
            awaitsRole = true
            _ = changes.refuse(index, .notLeader(leader: nil), isOver: false)
        case .tooLarge: throw .stateStopped(reason: "The replica refuses record \(index): \(text)")
        case .badTransfer:
            changes.refuseTransfer(text)
            tell(.refused(text))
        case .otherIndex, .transferring, .tooMuchUncommitted, .badMemberChange:
            guard !window.refuse(index, at: now),
                changes.refuse(index, .refused(text), isOver: true)
            else { return }
            tell(.refused(text))
            // The index is the next batch's.
            try proposeEmpty(index, term)
        }
    }

    /// The replica asks once a second.
    mutating func want(_ change: MemberChange, _ node: UInt64) {
        guard case .leading = phase, change == .promote else { return }
        changes.want(change, node: node)
    }

    /// Asks once a millisecond for the proof of all reads that wait for one.
    mutating func askForProof() {
        guard case .leading = phase, owner.rounds.isAsked, now >= nextRead else { return }
        nextRead = now + ReplicatedJournal.interval
        say(.read(owner.rounds.close()))
    }

    mutating func prove(_ round: UInt64) {
        guard case .leading = phase, round > provenRound else { return }
        provenRound = round
        replica.events.proved(round)
    }
}
