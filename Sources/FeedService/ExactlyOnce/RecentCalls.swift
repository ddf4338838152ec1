package import FeedLog
import FeedRanking

/// The latest calls of a channel, so that none of them is executed twice.
///
/// A value without a lock. The sequences up to `highest`, less than `window` below it, are
/// remembered. A remembered sequence without a call was never executed, so its call may still come.
/// All lower sequences are forgotten and refused, because their calls may have been executed.
///
/// A channel costs little until it is used: the calls take memory as they are recorded, and that
/// memory counts as the share of the host that holds the channel.
package struct RecentCalls: Sendable {
    /// The number of sequences that are remembered.
    package static let window = CallRing.window
    /// The memory of a channel without calls, with its place in the table, about.
    package static let baseByteCount = 256

    /// The decision about a call.
    package enum Decision: Equatable, Sendable {
        /// It was not executed: execute and record it.
        case execute
        /// It was executed, with this outcome.
        case answer(Outcome)
        /// Another connection has taken the channel over.
        case fenced
        /// Its sequence was another call's.
        case reused
        /// Its sequence is too low to be remembered.
        case expired
        /// It was not executed, and the host may take no memory to record it.
        case noRoom
    }

    /// The channel's number, which outcomes name it by.
    package let channel: UInt64
    /// The number of the Hello that holds the channel; only its connection may call.
    package private(set) var epoch: UInt64 = 0
    /// The highest sequence that was executed; 0 is none.
    package private(set) var highest: UInt64 = 0
    private var ring = CallRing()
    /// The share that the channel's memory counts in; nil counts nowhere.
    private var share: ChannelShare?

    /// A channel that has not called yet, and counts in a host's share.
    package init(channel: UInt64, share: ChannelShare? = nil) {
        self.channel = channel
        self.share = share
        share?.add(byteCount)
    }

    /// The bytes that the channel takes, about.
    package var byteCount: Int { Self.baseByteCount + ring.byteCount }

    /// A Hello takes the channel over; calls of the epochs before are fenced from now on.
    package mutating func beginEpoch() -> UInt64 {
        epoch += 1
        return epoch
    }

    /// The channel's memory counts in another host's share from now on; nil counts nowhere.
    mutating func move(to other: ChannelShare?) {
        share?.add(-byteCount)
        other?.add(byteCount)
        share = other
    }

    /// Decides about a call with a sequence above 0; O(1), O(log calls) if there are gaps.
    ///
    /// - Parameters:
    ///   - sequence: The call's sequence.
    ///   - hash: The hash of its content.
    ///   - epoch: Which Hello its connection has said.
    ///   - recordsItems: Whether the call is a batch, whose items are recorded.
    /// - Returns: The decision.
    @inline(__always)
    package func decision(
        sequence: UInt64,
        hash: UInt32,
        epoch: UInt64,
        recordsItems: Bool = false
    ) -> Decision {
        guard epoch == self.epoch else { return .fenced }
        if sequence <= highest {
            guard highest - sequence < UInt64(Self.window) else { return .expired }
            if let call = ring.call(sequence, highest: highest) {
                return call.hash == hash ? .answer(ring.outcome(of: call)) : .reused
            }
        }
        return (ring.hasRoom && !recordsItems) || mayGrow(items: recordsItems) ? .execute : .noRoom
    }

    /// Records the outcome of a call, in place of an earlier one; O(1) where sequences follow each
    /// other, otherwise O(calls).
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
        if sequence > highest, ring.hasRoom, !outcome.isItems {
            ring.append(sequence, hash: hash, outcome, highest: highest)
            highest = sequence
        } else {
            recordCounted(sequence, hash, outcome)
        }
        return ChannelOutcome(
            channel: channel,
            sequence: sequence,
            requestHash: hash,
            outcome: outcome
        )
    }

    /// Records any call, and counts the memory that it takes.
    @inline(never)
    private mutating func recordCounted(_ sequence: UInt64, _ hash: UInt32, _ outcome: Outcome) {
        let before = ring.byteCount
        if sequence > highest {
            ring.append(sequence, hash: hash, outcome, highest: highest)
            highest = sequence
        } else if highest - sequence < UInt64(Self.window) {
            ring.insert(sequence, hash: hash, outcome, highest: highest)
        }
        share?.add(ring.byteCount - before)
    }

    @inline(never)
    private func mayGrow(items: Bool) -> Bool {
        let growth = ring.growth(items: items)
        return growth == 0 || share?.admits(growth) ?? true
    }
}

extension Outcome {
    /// Whether it is of a batch.
    @inline(__always)
    fileprivate var isItems: Bool {
        if case .items = self { true } else { false }
    }
}
