internal import FeedConcurrency
package import FeedLog

/// How an earlier run's channels come back, before any connection is open: channels and outcomes
/// in any order that has a channel before its outcomes, then `endRestoring`.
extension ChannelTable {
    /// Puts a channel back, if it is not there yet; O(1).
    ///
    /// The newest are forgotten if the restored channels exceed the limit of all channels.
    package func restore(_ identity: ChannelState) {
        let now = clock()
        state.withLock { state in
            state.nextNumber = max(state.nextNumber, identity.number + 1)
            if let old = state.index[Key(identity)] {
                // The newer of the two is the one that a Hello found last: the other was evicted.
                let other = state.channels[old].channel.identity.number
                guard other < identity.number else {
                    if collectsEvicted, other != identity.number {
                        state.evicted.append(identity.number)
                    }
                    return
                }
                evict(old, &state)
            }
            let host = state.host(.earlierRun, budget)
            let share = state.hosts[host].share
            state.hosts[host].channelCount += 1
            let place = state.insert(Channel(identity, share: share), host: host)
            state.restored[identity.number] = place
            state.link(place, isUsed: false, at: now)
            evictAboveShare(host, &state)
        }
    }

    /// Puts an outcome back, if its channel is there; O(1).
    ///
    /// The same outcome twice changes nothing; of a batch the items of both are done.
    package func restore(_ outcome: ChannelOutcome) {
        let now = clock()
        state.withLock { state in
            guard let place = state.restored[outcome.channel] else { return }
            let channel = state.channels[place].channel
            let host = state.channels[place].host
            if state.channels[place].isUsed {
                let growth = channel.withCalls { calls in
                    let before = calls.byteCount
                    calls.restore(outcome)
                    return calls.byteCount - before
                }
                state.hosts[host].idleByteCount += growth
                if growth > 0 { evictAboveShare(host, &state) }
            } else {
                state.unlink(place)
                channel.withCalls { $0.restore(outcome) }
                state.link(place, isUsed: channel.withCalls { $0.highest > 0 }, at: now)
                evictAboveShare(host, &state)
            }
        }
    }

    private func evictAboveShare(_ host: Int, _ state: inout State) {
        while !state.hosts[host].share.admits(0), let idle = state.hosts[host].idlest {
            evict(idle, &state)
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
            for place in state.restored.values { state.channels[place].closeTime = now }
            state.restored = [:]
        }
    }
}

extension RecentCalls {
    /// Restores an outcome of an earlier run, of any epoch.
    mutating func restore(_ outcome: ChannelOutcome) {
        guard outcome.sequence > 0 else { return }
        let old = decision(sequence: outcome.sequence, hash: outcome.requestHash, epoch: epoch)
        if case .answer(.items(let done)) = old, case .items(let more) = outcome.outcome {
            let both = done.union(more)
            record(sequence: outcome.sequence, hash: outcome.requestHash, .items(both))
        } else {
            record(sequence: outcome.sequence, hash: outcome.requestHash, outcome.outcome)
        }
    }
}
