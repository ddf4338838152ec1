import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport

// What clients do.
extension StatePowerCutRun {
    /// A call, a commit batch, or a checkpoint step.
    mutating func turn(_ life: inout DurableLife, checkpoints: Bool = true) throws {
        clock.withLock { $0 += Int64.random(in: 0..<5, using: &generator) }
        // Another call of the largest kind has to fit into the record too.
        if life.state.logs.waitingByteCount > 1_000 { try commit(&life) }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<6: try call(&life)
        case 6, 7: try commit(&life)
        case 8 where generator.oneIn(4): try sweepMarks(&life)
        default: if checkpoints { try checkpoint(&life) }
        }
    }

    /// Sends again what was not answered in an earlier life.
    mutating func resend(_ life: inout DurableLife) throws {
        let unanswered = pending
        pending = []
        for (index, call) in unanswered.enumerated() {
            do {
                try open(call.channel, life)
                try perform(call, &life)
            } catch {
                pending += unanswered[index...].filter { !pending.contains($0) }
                throw error
            }
        }
    }

    private mutating func call(_ life: inout DurableLife) throws {
        if generator.oneIn(12), let old = answered.randomElement(using: &generator) {
            // A repeat of what was answered: it is known, or too old to be asked for.
            let highest = sequences[old.channel] ?? 0
            if old.sequence + 200 > highest { try perform(old, &life) }
            return
        }
        var call = ClientCall(command: .random(model, &accounts, &generator))
        if generator.oneIn(2) {
            call.channel = UInt32.random(in: 1...3, using: &generator)
            try open(call.channel, life)
            let skipped: UInt64 = generator.oneIn(30) ? 90 : 0
            call.sequence = (sequences[call.channel] ?? 0) + 1 + skipped
            sequences[call.channel] = call.sequence
        }
        try perform(call, &life)
    }

    /// A Hello.
    private mutating func open(_ channel: UInt32, _ life: borrowing DurableLife) throws {
        let log = life.state.logs[Int.random(in: 0..<2, using: &generator)]
        log.transaction { life.channels.open(channel, log) }
        if model.calls[channel] == nil { model.calls[channel] = [:] }
    }

    private mutating func perform(_ call: ClientCall, _ life: inout DurableLife) throws {
        let known = call.isNumbered ? life.channels.outcome(of: call) : nil
        let expected = call.isNumbered ? model.calls[call.channel]?[call.sequence] : nil
        guard known?.outcome == expected, known == nil || known?.requestHash == call.hash else {
            throw Complaint(
                text: "Call \(call.sequence) of channel \(call.channel) is answered "
                    + "\(String(describing: known)), expected \(String(describing: expected))."
            )
        }
        if case .batch(let ids) = call.command {
            try perform(ids, call, known?.outcome, &life)
            return
        }
        guard known == nil else { return }
        if call.isNumbered { pending.append(call) }
        let log = life.state.logs[Int.random(in: 0..<2, using: &generator)]
        let command = call.command.allowed(by: model.viewers)
        let outcome = log.transaction {
            let outcome = life.execute(command, log)
            record(outcome, call, life, log)
            return outcome
        }
        let told = model.execute(command, at: clock.withLock { $0 })
        // A mark that says nothing new takes no revision.
        if call.command.isMark { model.revision = life.store.revision }
        if call.isNumbered, let told { model.calls[call.channel]?[call.sequence] = told }
        guard outcome == told else {
            throw Complaint(
                text: "\(call.command): \(String(describing: outcome)), not "
                    + String(describing: told)
            )
        }
    }

    /// Has the store forget marks that say nothing any more, which changes nothing for their viewers.
    private mutating func sweepMarks(_ life: inout DurableLife) throws {
        try commit(&life)
        let log = life.state.logs[Int.random(in: 0..<2, using: &generator)]
        log.transaction {
            for _ in 0..<20 { life.store.sweepMarks(&sweep, sink: log) }
        }
        model.revision = life.store.revision
    }

    /// Executes the items of a batch that are not done yet, with commit batches between them.
    private mutating func perform(
        _ ids: [UInt64],
        _ call: ClientCall,
        _ known: Outcome?,
        _ life: inout DurableLife
    ) throws {
        var done = ItemMask()
        if case .items(let mask) = known { done = mask }
        let voter = CommandModel.voters[0]
        let isPending = call.isNumbered && !answered.contains(call)
        for (item, id) in ids.enumerated() where !done[item] {
            // Its answer comes with the last item, so until then it stays without one.
            if isPending, !pending.contains(call) { pending.append(call) }
            let log = life.state.logs[Int.random(in: 0..<2, using: &generator)]
            let isDone = log.transaction {
                let isDone = life.execute(.vote(id, .up, by: voter), log) != nil
                done[item] = true
                record(.items(done), call, life, log)
                return isDone
            }
            let told = model.upvote(id, by: voter, at: clock.withLock { $0 })
            if call.isNumbered { model.calls[call.channel]?[call.sequence] = .items(done) }
            guard isDone == told else { throw Complaint(text: "Item \(item) of \(call.command)") }
            if generator.oneIn(6) { try commit(&life) }
        }
    }

    /// Remembers the outcome of a numbered call, in the transaction that executed it.
    private func record(
        _ outcome: Outcome?,
        _ call: ClientCall,
        _ life: borrowing DurableLife,
        _ log: ChangeLog
    ) {
        guard call.isNumbered, let outcome, let number = life.channels.number(of: call.channel)
        else { return }
        let recorded = ChannelOutcome(
            channel: number,
            sequence: call.sequence,
            requestHash: call.hash,
            outcome: outcome
        )
        life.channels.record(recorded)
        if fault != .forgottenOutcomes { log.append(recorded) }
    }
}
