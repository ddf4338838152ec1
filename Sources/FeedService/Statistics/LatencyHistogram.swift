internal import Synchronization

/// How long one kind of thing took on one loop; only that loop writes it, and statistics read it.
///
/// The buckets are fixed: linear at first, then sixteen for each doubling, as in HdrHistogram. A bucket is at
/// most a sixteenth of its times wide, or ``unitNanoseconds`` where that is more. So the place of a time is a
/// shift, and percentiles are as exact for microseconds as for seconds. A single writer needs no
/// read-modify-write: counting costs some loads and stores, however many things took the same time.
package final class LatencyHistogram: Sendable {
    /// The buckets: the last one takes all times from 68 s on.
    package static let bucketCount = 432
    /// The width of the first buckets.
    package static let unitNanoseconds: UInt64 = 64

    private static let unitShift: UInt64 = 6
    private static let bucketsPerDoubling = 16

    private let counts = InlineArray<432, Atomic<UInt64>> { _ in Atomic(0) }
    private let sum = Atomic<UInt64>(0)
    private let longest = Atomic<UInt64>(0)

    package init() {}

    /// Counts things that took a time each; O(1).
    package func count(_ count: Int, nanoseconds: UInt64) {
        let number = UInt64(truncatingIfNeeded: count)
        Self.add(number, to: counts[Self.bucket(of: nanoseconds)])
        Self.add(number &* nanoseconds, to: sum)
        if nanoseconds > longest.load(ordering: .relaxed) {
            longest.store(nanoseconds, ordering: .relaxed)
        }
    }

    fileprivate func count(inBucket bucket: Int) -> UInt64 {
        counts[bucket].load(ordering: .relaxed)
    }

    fileprivate var sumNanoseconds: UInt64 { sum.load(ordering: .relaxed) }

    fileprivate var maximumNanoseconds: UInt64 { longest.load(ordering: .relaxed) }

    private static func add(_ number: UInt64, to counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ number, ordering: .relaxed)
    }

    /// The bucket of a time; O(1).
    @inline(__always)
    package static func bucket(of nanoseconds: UInt64) -> Int {
        let units = nanoseconds >> unitShift
        guard units >= UInt64(bucketsPerDoubling) else { return Int(units) }
        let doubling = 59 - units.leadingZeroBitCount
        return min(bucketCount - 1, doubling * bucketsPerDoubling + Int(units >> doubling))
    }

    /// The longest time that a bucket counts, in nanoseconds; nil for the last one, which has no end.
    package static func lastNanosecond(of bucket: Int) -> UInt64? {
        guard bucket < bucketCount - 1 else { return nil }
        return (firstUnit(of: bucket + 1) << unitShift) - 1
    }

    private static func firstUnit(of bucket: Int) -> UInt64 {
        guard bucket >= 2 * bucketsPerDoubling else { return UInt64(bucket) }
        let doubling = bucket / bucketsPerDoubling - 1
        return UInt64(bucketsPerDoubling + bucket % bucketsPerDoubling) << UInt64(doubling)
    }
}

/// A copy of histograms, added up: what percentiles are taken of.
package struct LatencyCounts: Equatable, Sendable {
    package private(set) var buckets = [UInt64](repeating: 0, count: LatencyHistogram.bucketCount)
    package private(set) var count: UInt64 = 0
    package private(set) var sumNanoseconds: UInt64 = 0
    package private(set) var maximumNanoseconds: UInt64 = 0

    /// The sum of the histograms, as they are now; O(buckets).
    package init(_ histograms: some Sequence<LatencyHistogram>) {
        for histogram in histograms {
            for bucket in buckets.indices {
                let count = histogram.count(inBucket: bucket)
                buckets[bucket] += count
                self.count += count
            }
            sumNanoseconds &+= histogram.sumNanoseconds
            maximumNanoseconds = max(maximumNanoseconds, histogram.maximumNanoseconds)
        }
    }

    /// The part of the things that was counted since an earlier copy.
    ///
    /// Their longest time is not known: it is taken for the end of its bucket. O(buckets).
    package func since(_ earlier: Self) -> Self {
        var part = self
        part.count = 0
        part.sumNanoseconds &-= earlier.sumNanoseconds
        var last: UInt64? = 0
        for bucket in buckets.indices {
            part.buckets[bucket] &-= earlier.buckets[bucket]
            part.count += part.buckets[bucket]
            if part.buckets[bucket] > 0 { last = LatencyHistogram.lastNanosecond(of: bucket) }
        }
        part.maximumNanoseconds = min(last ?? maximumNanoseconds, maximumNanoseconds)
        return part
    }

    /// The time that such a share of the things took at most, as 9,990 for the percentile 99.9; O(buckets).
    ///
    /// It is the end of a bucket, in nanoseconds, and never more than the longest time; 0 where there are none.
    package func nanoseconds(tenThousandths: UInt64) -> UInt64 {
        let rank = max(1, (count * tenThousandths + 9_999) / 10_000)
        var passed: UInt64 = 0
        for (bucket, count) in buckets.enumerated() {
            passed += count
            guard passed >= rank, let last = LatencyHistogram.lastNanosecond(of: bucket) else {
                continue
            }
            return min(last, maximumNanoseconds)
        }
        return maximumNanoseconds
    }
}
