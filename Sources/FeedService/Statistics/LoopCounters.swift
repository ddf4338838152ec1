internal import FeedConcurrency
internal import Synchronization

/// The counts of one loop; only that loop writes them, and statistics read them.
///
/// A single writer needs no read-modify-write, so that counting costs a load and a store.
final class LoopCounters: Sendable {
    /// What is counted beside calls.
    enum Count: Int, CaseIterable {
        /// Connections closed because a frame was no message.
        case badFrames
        /// Connections closed because a frame did not arrive whole in time.
        case slowFrames
        /// Connections closed because too much was held, and most of it for their hosts.
        case overBudgetCloses
        /// Calls that had been executed before and got the outcome of that.
        case repeatedCalls
        case batchedVotes
        /// Stripes that were refreshed between requests.
        case refreshes
        /// Pages that were served as they were kept, first pages mostly.
        case keptPagesServed
        /// Pages that were read to be kept.
        case keptPagesRead
        /// The bytes of the pages that are kept.
        case keptPageBytes
        /// Writes of answers that are held, when a commit batch last began or was released.
        case heldWrites
        /// How long the loop had not waited when it was last asked, in nanoseconds.
        case busyNanoseconds
    }

    fileprivate struct Reasons {
        var last: [Int: String] = [:]
        /// How often each was given.
        var counts: [String: UInt64] = [:]
    }

    /// A place for each call, and a few more.
    fileprivate typealias MethodCounts = InlineArray<48, Atomic<UInt64>>
    /// A place for each `Count`, and a few more.
    private typealias OtherCounts = InlineArray<16, Atomic<UInt64>>

    fileprivate let requests = MethodCounts { _ in Atomic(0) }
    fileprivate let errors = MethodCounts { _ in Atomic(0) }
    private let others = OtherCounts { _ in Atomic(0) }
    fileprivate let reasons = Lock(Reasons())
    private let latencies = Method.allCases.map { _ in LatencyHistogram() }
    /// How long answers were held until what they show was durable.
    let heldTime = LatencyHistogram()

    init() {
        precondition(
            Method.allCases.count <= MethodCounts.count,
            "There are more calls than places to count them: MethodCounts is to be larger."
        )
        precondition(
            Count.allCases.count <= OtherCounts.count,
            "There are more counts than places for them: OtherCounts is to be larger."
        )
    }

    /// Counts requests of one method, answered well or not.
    func countRequests(_ method: Method, _ count: Int = 1) {
        Self.add(count, to: requests[method.rawValue])
    }

    /// Counts a refusal and keeps its reason as the call's last error.
    func countError(_ method: Method, _ reason: String) {
        Self.add(1, to: errors[method.rawValue])
        reasons.withLock { reasons in
            reasons.last[method.rawValue] = reason
            reasons.counts[reason, default: 0] += 1
        }
    }

    func count(_ what: Count, _ number: Int = 1) { Self.add(number, to: others[what.rawValue]) }

    /// Sets what is no sum.
    func set(_ what: Count, to value: Int) {
        others[what.rawValue].store(UInt64(value), ordering: .relaxed)
    }

    /// Sets how long the loop has not waited since its start.
    func setBusyTime(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        set(.busyNanoseconds, to: max(0, Int(nanoseconds)))
    }

    subscript(what: Count) -> UInt64 { others[what.rawValue].load(ordering: .relaxed) }

    /// How long the answers of a call have taken.
    func latency(_ method: Method) -> LatencyHistogram { latencies[method.rawValue] }

    private static func add(_ number: Int, to counter: borrowing Atomic<UInt64>) {
        let sum = counter.load(ordering: .relaxed) &+ UInt64(truncatingIfNeeded: number)
        counter.store(sum, ordering: .relaxed)
    }
}

/// The sums of the counts of all loops.
struct ServiceStatistics {
    let loops: [LoopCounters]

    subscript(what: LoopCounters.Count) -> UInt64 { loops.reduce(0) { $0 + $1[what] } }

    func requestCount(_ method: Method) -> UInt64 {
        loops.reduce(0) { $0 + $1.requests[method.rawValue].load(ordering: .relaxed) }
    }

    /// The calls that were made at least once.
    var methods: [Method] { Method.allCases.filter { requestCount($0) > 0 } }

    func errorCount(_ method: Method) -> UInt64 {
        loops.reduce(0) { $0 + $1.errors[method.rawValue].load(ordering: .relaxed) }
    }

    /// The reason of a call's last refusal; empty if it had none.
    func lastError(_ method: Method) -> String {
        loops.lazy.compactMap { $0.reasons.withLock { $0.last[method.rawValue] } }.first ?? ""
    }

    /// How often each reason was given, the most frequent first.
    func errorCounts() -> [(reason: String, count: UInt64)] {
        var counts: [String: UInt64] = [:]
        for loop in loops { counts.merge(loop.reasons.withLock { $0.counts }, uniquingKeysWith: +) }
        return counts.map { (reason: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    }

    /// How long the answers of some calls have taken.
    func latency(_ methods: [Method]) -> LatencyCounts {
        LatencyCounts(methods.flatMap { method in loops.map { $0.latency(method) } })
    }

    /// How long answers were held until what they show was durable.
    var heldTime: LatencyCounts { LatencyCounts(loops.lazy.map(\.heldTime)) }
}

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
    /// It is the end of a bucket, in nanoseconds, and never more than the longest time; 0 of no things.
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

/// The calls of one connection that a loop iteration has answered, to time them together.
///
/// They arrived together, and their answers leave in one write. So a run of votes is one number here,
/// and its time is counted once.
package struct AnsweredCalls: ~Copyable {
    package struct Run {
        package let method: Method
        package var count: Int
        /// The id of the first of these requests.
        package let firstID: UInt64

        package init(_ method: Method, count: Int, firstID: UInt64) {
            self.method = method
            self.count = count
            self.firstID = firstID
        }
    }

    /// When the calls arrived: when their loop iteration began, or since when they have waited for one.
    private(set) var arrival = MonotonicInstant(nanoseconds: 0)
    /// The calls, one after another; the memory is reused.
    private(set) var runs: [Run] = []

    /// Where the answers with times end in the encoded bytes.
    private(set) var timedEnds: [Int] = []
    var hasSecret = false
    /// The encoded answers that are not held, however many are before them: those while a commit stands
    /// still that show nothing of the state.
    private(set) var ahead: [Range<Int>] = []

    var isEmpty: Bool { runs.isEmpty }

    mutating func begin(at arrival: MonotonicInstant) {
        self.arrival = arrival
        removeAll()
    }

    /// Adds calls that are answered, the first of which has this id; O(1).
    mutating func add(_ method: Method, _ count: Int, firstID: UInt64) {
        let last = runs.count - 1
        if last >= 0, runs[last].method == method {
            runs[last].count += count
        } else {
            runs.append(Run(method, count: count, firstID: firstID))
        }
    }

    /// Notes that the last answer has times and ends at an offset of the encoded bytes.
    mutating func addTimed(endingAt end: Int) { timedEnds.append(end) }

    /// Notes that the answers in a range of the encoded bytes are not held.
    mutating func sendAhead(_ range: Range<Int>) {
        if let last = ahead.last, last.upperBound == range.lowerBound {
            ahead[ahead.count - 1] = last.lowerBound..<range.upperBound
        } else if !range.isEmpty {
            ahead.append(range)
        }
    }

    /// Forgets the calls; the lists keep their memory.
    mutating func removeAll() {
        // Most writes have one run. To empty the list is a longer way.
        if runs.count == 1 {
            runs.removeLast()
        } else if !runs.isEmpty {
            runs.removeAll(keepingCapacity: true)
        }
        if !timedEnds.isEmpty { timedEnds.removeAll(keepingCapacity: true) }
        if !ahead.isEmpty { ahead.removeAll() }
        hasSecret = false
    }
}
