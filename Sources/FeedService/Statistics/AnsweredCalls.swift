internal import FeedConcurrency

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
