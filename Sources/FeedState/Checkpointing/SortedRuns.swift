/// Numbers given out in their order, sorted a piece at a time, so that no call takes long.
///
/// Runs of 8192 are sorted one by one; then a heap of the runs' first numbers gives the least.
struct SortedRuns {
    private static let runCount = 8_192

    private var numbers: [UInt64]
    /// Where the run that is sorted next begins; the count when all are.
    private var sorted = 0
    /// Of each run that is not at its end, the place of its next number; a heap by that number.
    private var heap: [Int] = []

    /// Takes numbers in any order.
    init(_ numbers: [UInt64]) {
        self.numbers = numbers
    }

    /// Whether all runs are sorted, so that ``next()`` may be called.
    var isReady: Bool { sorted == numbers.count }

    /// Sorts one run; O(1), some half a millisecond.
    mutating func sortRun() {
        guard !isReady else { return }
        let end = min(sorted + Self.runCount, numbers.count)
        numbers[sorted..<end].sort()
        heap.append(sorted)
        sorted = end
        if isReady {
            for place in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(place) }
        }
    }

    /// The least of the numbers that are left, nil when none is; O(log runs).
    mutating func next() -> UInt64? {
        guard let first = heap.first else { return nil }
        let number = numbers[first]
        if first + 1 < numbers.count, (first + 1) % Self.runCount != 0 {
            heap[0] = first + 1
        } else {
            let last = heap.removeLast()
            if heap.isEmpty { return number }
            heap[0] = last
        }
        sink(0)
        return number
    }

    private mutating func sink(_ start: Int) {
        var place = start
        while true {
            var least = place
            let left = 2 * place + 1
            if comes(left, before: least) { least = left }
            if comes(left + 1, before: least) { least = left + 1 }
            if least == place { return }
            heap.swapAt(place, least)
            place = least
        }
    }

    private func comes(_ child: Int, before other: Int) -> Bool {
        child < heap.count && numbers[heap[child]] < numbers[heap[other]]
    }
}
