/// The peaks of a distribution of latencies, with the share of requests around each.
///
/// Two peaks are two modes where the valley between them is lower than half of the lower one, and
/// each has at least 2% of the requests.
package struct LatencyModes {
    /// A peak.
    package struct Mode: Sendable, Equatable {
        /// The bucket of the peak.
        package var bucket: Int
        /// The share of the requests between its valleys.
        package var share: Double
    }

    /// The modes, from the shortest latency to the longest.
    package private(set) var modes: [Mode] = []

    private static let valley = 0.5
    private static let leastShare = 0.02

    /// The modes of counts on a logarithmic scale; O(counts²).
    package init(_ counts: [UInt64]) {
        let total = Double(counts.reduce(0, +))
        guard total > 0 else { return }
        let smooth = Self.smoothed(counts)
        var peaks = smooth.indices.filter { index in
            let before = index > 0 ? smooth[index - 1] : 0
            let after = index + 1 < smooth.count ? smooth[index + 1] : 0
            return smooth[index] > before && smooth[index] >= after
        }
        while let weak = Self.weakest(peaks, smooth, counts) { peaks.remove(at: weak) }
        modes = zip(peaks, Self.parts(peaks, smooth)).map { peak, part in
            Mode(bucket: peak, share: Double(counts[part].reduce(0, +)) / total)
        }
    }

    /// The peak that is no mode and to be removed first; nil where all are modes.
    private static func weakest(_ peaks: [Int], _ smooth: [Double], _ counts: [UInt64]) -> Int? {
        guard peaks.count > 1 else { return nil }
        for place in 1..<peaks.count {
            let (one, two) = (peaks[place - 1], peaks[place])
            let lowest = smooth[one...two].min() ?? 0
            guard lowest > valley * min(smooth[one], smooth[two]) else { continue }
            return smooth[one] < smooth[two] ? place - 1 : place
        }
        let total = Double(counts.reduce(0, +))
        let shares = parts(peaks, smooth).map { Double(counts[$0].reduce(0, +)) / total }
        guard let least = shares.indices.min(by: { shares[$0] < shares[$1] }),
            shares[least] < leastShare
        else { return nil }
        return least
    }

    /// The buckets of each peak, divided at the deepest bucket between two.
    private static func parts(_ peaks: [Int], _ smooth: [Double]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        for (one, two) in zip(peaks, peaks.dropFirst()) {
            let lowest = (one...two).min { smooth[$0] < smooth[$1] } ?? two
            parts.append(start..<lowest)
            start = lowest
        }
        return parts + [start..<smooth.count]
    }

    /// Each count as a mean of its neighbourhood with the weights 1, 2, 3, 2, 1.
    private static func smoothed(_ counts: [UInt64]) -> [Double] {
        counts.indices.map { index in
            (-2...2).reduce(0.0) { sum, offset in
                let place = index + offset
                guard counts.indices.contains(place) else { return sum }
                return sum + Double(counts[place]) * Double(3 - abs(offset)) / 9
            }
        }
    }
}
