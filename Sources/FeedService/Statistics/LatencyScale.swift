/// The fixed buckets that times are counted in: linear at first, then sixteen for each doubling.
///
/// The idea is that of HdrHistogram. A bucket is at most a sixteenth of its times wide, or
/// ``unitNanoseconds`` where that is more. So the place of a time is a shift, and percentiles are as
/// exact for microseconds as for seconds.
package enum LatencyScale {
    /// The buckets: the last one takes all times from 68 s on.
    package static let bucketCount = 432
    /// The width of the first buckets.
    package static let unitNanoseconds: UInt64 = 64

    private static let unitShift: UInt64 = 6
    private static let bucketsPerDoubling = 16

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
