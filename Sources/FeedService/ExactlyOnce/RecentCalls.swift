package import FeedRanking

/// What a channel remembers of its latest calls, so that none of them is executed twice.
///
/// A value without a lock. The sequences up to `highest`, less than `window` below it, are
/// remembered: a place without a call there was never executed, which is why gaps may be filled
/// later. All below are forgotten, and never executed: nobody knows whether they were.
///
/// Invariants: the places are none, or a power of four up to `window`, and never fewer than the
/// remembered sequences; so each sequence has a place of its own, and its number need not be kept.
package struct RecentCalls: Sendable {
    /// How many sequences are remembered.
    package static let window = 256

    /// What to do with a call.
    package enum Decision: Equatable, Sendable {
        /// It was not executed: execute and record it.
        case execute
        /// It was executed, and this came of it.
        case answer(Outcome)
        /// Another connection has taken the channel over.
        case fenced
        /// Its sequence was another call's.
        case reused
        /// Its sequence is too far below the highest to be remembered.
        case expired
    }

    /// The channel's number, which outcomes name it by.
    package let channel: UInt64
    /// Which Hello holds the channel; only that one's connection may call.
    package private(set) var epoch: UInt64 = 0
    /// The highest sequence that was executed; 0 is none.
    package private(set) var highest: UInt64 = 0
    private var calls: [Call] = []
    /// As many as `calls` once a batch was recorded, and none before: most channels have none.
    private var masks: [ItemMask] = []

    /// A channel that has not called yet.
    package init(channel: UInt64) {
        self.channel = channel
    }

    /// A Hello takes the channel over; calls of the epochs before are fenced from now on.
    package mutating func beginEpoch() -> UInt64 {
        epoch += 1
        return epoch
    }

    /// What to do with a call of a sequence above 0; O(1).
    @inline(__always)
    package func decision(sequence: UInt64, hash: UInt32, epoch: UInt64) -> Decision {
        guard epoch == self.epoch else { return .fenced }
        guard sequence <= highest else { return .execute }
        guard highest - sequence < UInt64(Self.window) else { return .expired }
        let place = place(of: sequence)
        let call = calls[place]
        guard call.kind != .none else { return .execute }
        guard call.hash == hash else { return .reused }
        return .answer(outcome(call, place))
    }

    /// Remembers what came of a call, in place of what came of it before; O(1) where sequences
    /// follow each other.
    ///
    /// A sequence that is forgotten already stays so.
    ///
    /// - Returns: The outcome, for the log.
    @discardableResult
    @inline(__always)
    package mutating func record(
        sequence: UInt64,
        hash: UInt32,
        _ outcome: Outcome
    ) -> ChannelOutcome {
        let recorded = ChannelOutcome(
            channel: channel,
            sequence: sequence,
            requestHash: hash,
            outcome: outcome
        )
        if sequence > highest {
            advance(to: sequence)
        } else if highest - sequence >= UInt64(Self.window) {
            return recorded
        }
        let place = place(of: sequence)
        switch outcome {
        case .done: calls[place] = Call(id: 0, hash: hash, kind: .done)
        case .id(let id): calls[place] = Call(id: id, hash: hash, kind: .id)
        case .items(let mask):
            calls[place] = Call(id: 0, hash: hash, kind: .items)
            if masks.isEmpty { masks = Array(repeating: ItemMask(), count: calls.count) }
            masks[place] = mask
        }
        return recorded
    }

    /// Makes a higher sequence the highest; those that were skipped were not executed.
    @inline(__always)
    private mutating func advance(to sequence: UInt64) {
        let needed = Int(min(sequence, UInt64(Self.window)))
        if calls.count < needed { grow(to: needed) }
        if sequence - highest > 1 { forget(upTo: sequence) }
        highest = sequence
    }

    @inline(never)
    private mutating func forget(upTo sequence: UInt64) {
        let count = min(sequence - highest, UInt64(calls.count))
        for distance in 0..<count { calls[place(of: sequence - distance)] = Call() }
    }

    /// Makes places for the sequences from 1 on: with fewer than all there is none above them.
    @inline(never)
    private mutating func grow(to needed: Int) {
        var count = 4
        while count < needed { count *= 4 }
        let old = self
        calls = Array(repeating: Call(), count: count)
        if !masks.isEmpty { masks = Array(repeating: ItemMask(), count: count) }
        for sequence in 0..<UInt64(old.calls.count) where sequence < old.highest {
            let (from, to) = (old.place(of: sequence + 1), place(of: sequence + 1))
            calls[to] = old.calls[from]
            if !masks.isEmpty { masks[to] = old.masks[from] }
        }
    }

    @inline(__always)
    private func place(of sequence: UInt64) -> Int {
        Int(truncatingIfNeeded: sequence) & (calls.count - 1)
    }

    @inline(__always)
    private func outcome(_ call: Call, _ place: Int) -> Outcome {
        switch call.kind {
        case .none, .done: .done
        case .id: .id(call.id)
        case .items: .items(masks[place])
        }
    }

    /// What came of one call, in 16 bytes.
    private struct Call: BitwiseCopyable {
        enum Kind: UInt8 {
            case none, done, id, items
        }

        var id: UInt64 = 0
        var hash: UInt32 = 0
        var kind = Kind.none
    }
}
