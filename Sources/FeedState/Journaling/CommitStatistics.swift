internal import FeedConcurrency
internal import Synchronization

package final class CommitStatistics: Sendable {
    package static let recentCount = 1_024

    private struct Recent {
        var microseconds: [UInt32] = []
        var next = 0
    }

    private let commits = Atomic<UInt64>(0)
    private let entries = Atomic<UInt64>(0)
    private let bytes = Atomic<UInt64>(0)
    private let sum = Atomic<UInt64>(0)
    private let longest = Atomic<UInt64>(0)
    private let recent = Lock(Recent())

    package init() {}

    package func count(entryCount: Int, byteCount: Int = 0, took duration: Duration) {
        let microseconds = duration.wholeMicroseconds
        commits.wrappingAdd(1, ordering: .relaxed)
        entries.wrappingAdd(UInt64(entryCount), ordering: .relaxed)
        bytes.wrappingAdd(UInt64(byteCount), ordering: .relaxed)
        sum.wrappingAdd(microseconds, ordering: .relaxed)
        longest.max(microseconds, ordering: .relaxed)
        recent.withLock { recent in
            let value = UInt32(clamping: microseconds)
            if recent.microseconds.count < Self.recentCount {
                recent.microseconds.append(value)
            } else {
                recent.microseconds[recent.next] = value
                recent.next = (recent.next + 1) % Self.recentCount
            }
        }
    }

    package var commitCount: UInt64 { commits.load(ordering: .relaxed) }

    package var entryCount: UInt64 { entries.load(ordering: .relaxed) }

    package var byteCount: UInt64 { bytes.load(ordering: .relaxed) }

    package var sumMicroseconds: UInt64 { sum.load(ordering: .relaxed) }

    /// The longest commit since the start, in microseconds.
    package var maximumMicroseconds: UInt64 { longest.load(ordering: .relaxed) }

    /// How long such a share of the latest commits took at most, in microseconds; 0 before the first.
    ///
    /// O(n log n) for 1,024 commits at most.
    package func microseconds(percentile: Double) -> UInt64 {
        let sorted = recent.withLock { $0.microseconds }.sorted()
        guard !sorted.isEmpty else { return 0 }
        let rank = Int((Double(sorted.count) * percentile / 100).rounded(.up))
        return UInt64(sorted[min(sorted.count, max(1, rank)) - 1])
    }
}

extension Duration {
    package var wholeMicroseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(clamping: seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
}
