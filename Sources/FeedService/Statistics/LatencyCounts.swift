/// A copy of histograms, added up: what percentiles are taken of.
package struct LatencyCounts: Equatable, Sendable {
    /// The things in each bucket of ``LatencyScale``.
    package private(set) var buckets = [UInt64](repeating: 0, count: LatencyScale.bucketCount)
    /// The things in all buckets.
    package private(set) var count: UInt64 = 0
    /// The sum of all times.
    package private(set) var sumNanoseconds: UInt64 = 0
    /// The longest time.
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
            if part.buckets[bucket] > 0 { last = LatencyScale.lastNanosecond(of: bucket) }
        }
        part.maximumNanoseconds = min(last ?? maximumNanoseconds, maximumNanoseconds)
        return part
    }

    /// The time that such a share of the things took at most, in nanoseconds; 0 where there are none.
    ///
    /// O(buckets).
    ///
    /// - Parameter tenThousandths: The share, as 9,990 for the percentile 99.9.
    /// - Returns: The end of a bucket, and never more than the longest time.
    package func nanoseconds(tenThousandths: UInt64) -> UInt64 {
        let rank = max(1, (count * tenThousandths + 9_999) / 10_000)
        var passed: UInt64 = 0
        for (bucket, count) in buckets.enumerated() {
            passed += count
            guard passed >= rank, let last = LatencyScale.lastNanosecond(of: bucket) else {
                continue
            }
            return min(last, maximumNanoseconds)
        }
        return maximumNanoseconds
    }
}
