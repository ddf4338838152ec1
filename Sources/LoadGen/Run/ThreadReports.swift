/// What the threads of the load have reported so far, merged.
struct ThreadReports {
    /// Connections that opened.
    private(set) var openedCount = 0
    /// Connections that never opened.
    private(set) var connectFailures = Failures()
    /// When the measured time ended, on the thread that ended it last.
    private(set) var endNanoseconds: UInt64 = 0

    private let threadCount: Int
    private var connectedCount = 0
    private var finishedCount = 0
    private var openIntervals: [Int: ReportedInterval] = [:]

    /// Reports of `threadCount` threads, none of which has come.
    init(threadCount: Int) {
        self.threadCount = threadCount
    }

    /// Whether every thread has tried to open its connections.
    var areConnected: Bool { connectedCount == threadCount }
    /// Whether every thread has ended.
    var areFinished: Bool { finishedCount == threadCount }

    /// Records that a thread has tried to open its connections.
    mutating func connected(_ openedCount: Int, _ failures: Failures) {
        connectedCount += 1
        self.openedCount += openedCount
        connectFailures.add(failures)
    }

    /// Adds an interval of one thread; returns the merged interval after the last thread's.
    mutating func add(
        _ number: Int,
        _ end: UInt64,
        _ counts: IntervalCounts
    ) -> ReportedInterval? {
        guard var open = openIntervals.removeValue(forKey: number) else {
            return keep(ReportedInterval(number, endNanoseconds: end, counts))
        }
        open.counts.add(counts)
        open.threadCount += 1
        open.endNanoseconds = max(open.endNanoseconds, end)
        return keep(open)
    }

    /// Records that a thread has ended.
    mutating func finished(at end: UInt64) {
        finishedCount += 1
        endNanoseconds = max(endNanoseconds, end)
    }

    /// Takes the intervals that began after some threads had ended.
    mutating func takeIncomplete() -> [ReportedInterval] {
        defer { openIntervals = [:] }
        return openIntervals.values.sorted { $0.number < $1.number }
    }

    private mutating func keep(_ interval: ReportedInterval) -> ReportedInterval? {
        if interval.threadCount == threadCount { return interval }
        openIntervals[interval.number] = interval
        return nil
    }
}

/// One interval of the threads that have reported it.
package struct ReportedInterval {
    /// Its number.
    package let number: Int
    /// When it ended on the thread that ended it last.
    package fileprivate(set) var endNanoseconds: UInt64
    /// The counts of those threads.
    package fileprivate(set) var counts: IntervalCounts
    fileprivate var threadCount = 1

    fileprivate init(_ number: Int, endNanoseconds: UInt64, _ counts: IntervalCounts) {
        self.number = number
        self.endNanoseconds = endNanoseconds
        self.counts = counts
    }
}
