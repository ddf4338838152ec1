package import FeedRanking
internal import FeedTransport

/// How an earlier run's channels come back, before any connection is open: channels and outcomes
/// in any order that has a channel before its outcomes, then `endRestoring`.
extension RecordTable {
    /// Puts a channel back, if it is not there yet; O(1).
    package func restore(_ channel: ChannelState) {
        state.withLock { state in
            let key = Key(channel)
            if let old = state.entries[key] {
                // The newer of the two is the one that a Hello found last: the other was evicted.
                let other = old.record.state.number
                if collectsEvicted, other != channel.number {
                    state.evicted.append(min(other, channel.number))
                }
                guard other < channel.number else { return }
                state.restored[other] = nil
            }
            state.entries[key] = Entry(record: ChannelRecord(channel))
            state.restored[channel.number] = key
            state.nextNumber = max(state.nextNumber, channel.number + 1)
        }
    }

    /// Puts an outcome back, if its channel is there; O(1).
    ///
    /// The same outcome twice changes nothing; of a batch the items of both are done.
    package func restore(_ outcome: ChannelOutcome) {
        state.withLock { state in
            guard let key = state.restored[outcome.channel], let entry = state.entries[key] else {
                return
            }
            entry.record.withCalls { $0.restore(outcome) }
        }
    }

    /// Never gives a number below this one; numbers of channels that are gone are not used again.
    package func restore(nextNumber: UInt64) {
        state.withLock { $0.nextNumber = max($0.nextNumber, nextNumber) }
    }

    /// Begins the retention of each channel, as all are restored; O(channels).
    package func endRestoring() {
        let now = clock()
        state.withLock { state in
            for key in state.restored.values {
                state.entries[key]?.closeTime = now
                state.entries[key]?.isQueued = true
                state.queue.append(key, due: now.advanced(by: retention))
            }
            state.restored = [:]
        }
    }
}

extension RecentCalls {
    /// Puts an outcome of an earlier run back, whatever epoch it was of.
    mutating func restore(_ outcome: ChannelOutcome) {
        guard outcome.sequence > 0 else { return }
        let old = decision(sequence: outcome.sequence, hash: outcome.requestHash, epoch: epoch)
        if case .answer(.items(let done)) = old, case .items(let more) = outcome.outcome {
            let both = ItemMask(
                done.word0 | more.word0,
                done.word1 | more.word1,
                done.word2 | more.word2,
                done.word3 | more.word3
            )
            record(sequence: outcome.sequence, hash: outcome.requestHash, .items(both))
        } else {
            record(sequence: outcome.sequence, hash: outcome.requestHash, outcome.outcome)
        }
    }
}
