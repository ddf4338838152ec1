internal import FeedConcurrency
package import FeedLog

/// How an earlier run's channels come back, before any connection is open: channels and outcomes
/// in any order that has a channel before its outcomes, then `endRestoring`.
///
/// A follower's come from the log for as long as it follows, while other threads use the table; no
/// connection holds one. All of them are of the host of an earlier run and stay in `restored`. A channel
/// that the log evicts is forgotten, and no other: the leader has decided that, and its memory has the same
/// limit. Only a channel whose client has a newer one by the same key goes at once. Its number is kept as
/// evicted until the log has that too: the leader may have died before it logged that.
extension ChannelTable {
    /// Puts back what a log entry says of channels; the table ignores other entries.
    package func restore(_ entry: LogEntry) {
        switch entry {
        case .channel(let channel): restore(channel)
        case .outcome(let outcome): restore(outcome)
        case .evictedChannel(let number): restore(evictionOf: number)
        default: break
        }
    }

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

    /// Forgets a channel that was restored, if it was; O(1), and O(evicted) where it is gone already.
    private func restore(evictionOf number: UInt64) {
        state.withLock { state in
            if let place = state.restored.removeValue(forKey: number) {
                state.remove(place)
            } else if let place = state.evicted.firstIndex(of: number) {
                state.evicted.remove(at: place)
            }
        }
    }

    private func evictAboveShare(_ host: Int, _ state: inout State) {
        guard !state.isFollowing else { return }
        while !state.hosts[host].share.admits(0), let idle = state.hosts[host].idlest {
            evict(idle, &state)
        }
    }

    /// Never gives a number below this one; numbers of channels that are gone are not used again.
    package func restore(nextNumber: UInt64) {
        state.withLock { $0.nextNumber = max($0.nextNumber, nextNumber) }
    }

    /// Begins the retention of each channel, as all are restored; those of a follower go on to come; O(1).
    package func endRestoring() {
        let now = clock()
        _ = state.withLock { $0.isFollowing ? [:] : $0.endRestoring(at: now) }
    }

    /// Begins the retention of each channel of a follower, as the whole log is applied; O(1), while others
    /// use the table.
    ///
    /// From now on a Hello finds its channel, and a repeated sequence its outcome. Memory above the limit
    /// goes with the next runs of the eviction.
    package func beginLeading() {
        let now = clock()
        _ = state.withLock { state in
            state.isFollowing = false
            return state.endRestoring(at: now)
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

extension ChannelTable.State {
    /// Begins the retention of restored channels at a time; returns their places, whose memory is better
    /// given back without the lock; O(1).
    fileprivate mutating func endRestoring(at time: MonotonicInstant) -> [UInt64: Int] {
        restoredTime = time
        defer { restored = [:] }
        return restored
    }
}
