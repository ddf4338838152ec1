internal import FeedRanking
internal import FeedTransport

extension RecordTable {
    /// How often to look for channels to evict.
    package static let evictionInterval = Duration.seconds(1)
    /// The channels one look evicts at most: about a tenth of a millisecond, and enough that a full
    /// table is empty after the retention.
    package static let evictionLimit = 1024

    /// Forgets channels whose connections closed a retention ago or longer; O(limit).
    ///
    /// One that was opened and closed again since may stay for up to twice the retention.
    ///
    /// - Returns: How many were forgotten.
    @discardableResult
    package func evict(limit: Int = evictionLimit) -> Int {
        let now = clock()
        return state.withLock { state in
            var count = 0
            for _ in 0..<limit {
                guard let key = state.queue.popFirst(dueAt: now) else { break }
                guard var entry = state.entries[key] else { continue }
                guard let closeTime = entry.closeTime else {
                    // A connection holds it again, and queues it again when it closes.
                    entry.isQueued = false
                    state.entries[key] = entry
                    continue
                }
                let due = closeTime.advanced(by: retention)
                guard due <= now else {
                    state.queue.append(key, due: due)
                    continue
                }
                state.entries[key] = nil
                if collectsEvicted { state.evicted.append(entry.record.state.number) }
                count += 1
            }
            state.evictedCount += UInt64(count)
            return count
        }
    }

    /// The numbers evicted since they were taken last; empty unless the table collects them.
    ///
    /// No effect names them any more: none is in a later section of any log.
    package func takeEvicted() -> [UInt64] {
        state.withLock { state in
            let evicted = state.evicted
            state.evicted = []
            return evicted
        }
    }
}

/// Keys in the order in which they were appended, each with the time it is due.
///
/// A late one in front delays those behind it; so times only say how early a key may come out.
struct EvictionQueue {
    private var keys: [(key: RecordTable.Key, due: MonotonicInstant)] = []
    /// The first that was not popped.
    private var head = 0

    /// Appends a key; O(1) on average.
    mutating func append(_ key: RecordTable.Key, due: MonotonicInstant) {
        keys.append((key, due))
    }

    /// Takes the first key out if it is due; O(1) on average.
    mutating func popFirst(dueAt now: MonotonicInstant) -> RecordTable.Key? {
        guard head < keys.count, keys[head].due <= now else { return nil }
        let key = keys[head].key
        head += 1
        if head >= 1024, head * 2 >= keys.count {
            keys.removeFirst(head)
            head = 0
        }
        return key
    }
}
