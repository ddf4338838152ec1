/// Sorts keys into the order of the list.
///
/// A radix sort over the bytes that differ, least significant first; keys that stay equal are then
/// decided by `PostTable.precedes`. See Knuth, "Sorting and Searching", 5.2.5.
package struct KeySort: ~Copyable {
    /// Below this many keys an insertion sort is faster.
    private static let insertionLimit = 32
    /// How many bits of the second parts the passes look at, at least.
    private static let secondaryBits: UInt64 = 16
    /// From so many keys on the passes look at one byte more.
    private static let manyKeys = 8_192

    private var scratch = Slab<RankKey>()
    /// The place of the next key of each digit.
    private var starts = Slab<UInt32>()

    package init() {}

    /// Sorts in O(n) passes over the bytes that differ, and O(m log m) in runs of m equal keys.
    package mutating func sort(_ keys: inout Slab<RankKey>, _ posts: borrowing PostTable) {
        guard keys.count > Self.insertionLimit else {
            Self.insertionSort(&keys, 0..<keys.count, posts)
            return
        }
        scratch.removeAll()
        scratch.extend(to: keys.count, with: keys[0])
        var least = UInt64.max
        for index in 0..<keys.count { least = min(least, keys[index].primary) }
        var primaryBits: UInt64 = 0
        var secondaryBits: UInt64 = 0
        let first = keys[0]
        for index in 0..<keys.count {
            primaryBits |= keys[index].primary &- least
            secondaryBits |= keys[index].secondary ^ first.secondary
        }
        // Of the second parts only the first bits that differ: that leaves few keys equal.
        let primaryWidth = UInt64(64 - primaryBits.leadingZeroBitCount)
        let differing = UInt64(64 - secondaryBits.leadingZeroBitCount)
        let wanted = Self.secondaryBits + (keys.count < Self.manyKeys ? 0 : 8)
        let rounded = (primaryWidth + min(wanted, differing) + 7) & ~7
        let width = min(rounded, 64, primaryWidth + differing)
        let droppedBits = differing - (width - primaryWidth)
        let mask = differing == 64 ? UInt64.max : 1 << differing - 1
        for shift in stride(from: UInt64(0), to: width, by: 8) {
            pass(&keys) { key in
                let primary = (key.primary &- least) &<< (differing &- droppedBits)
                let word = primary | (key.secondary & mask) >> droppedBits
                return Int(truncatingIfNeeded: word >> shift & 255)
            }
        }
        Self.sortRuns(&keys, droppedBits, posts)
    }

    /// One stable distribution of the keys by a digit.
    @inline(__always)
    private mutating func pass(_ keys: inout Slab<RankKey>, _ digit: (RankKey) -> Int) {
        starts.removeAll()
        starts.extend(to: 256, with: 0)
        for index in 0..<keys.count { starts[digit(keys[index])] &+= 1 }
        var sum: UInt32 = 0
        for value in 0..<256 {
            let count = starts[value]
            starts[value] = sum
            sum &+= count
        }
        for index in 0..<keys.count {
            let key = keys[index]
            let value = digit(key)
            scratch[Int(starts[value])] = key
            starts[value] &+= 1
        }
        swap(&keys, &scratch)
    }

    /// Sorts the runs of keys that the passes left equal.
    private static func sortRuns(
        _ keys: inout Slab<RankKey>,
        _ droppedBits: UInt64,
        _ posts: borrowing PostTable
    ) {
        var start = 0
        while start < keys.count {
            let first = keys[start]
            var isSorted = true
            var end = start + 1
            while end < keys.count, keys[end].primary == first.primary,
                (keys[end].secondary ^ first.secondary) >> droppedBits == 0
            {
                isSorted = isSorted && posts.precedes(keys[end - 1], keys[end])
                end += 1
            }
            if !isSorted {
                if end - start > insertionLimit {
                    sortInArray(&keys, start..<end, posts)
                } else {
                    insertionSort(&keys, start..<end, posts)
                }
            }
            start = end
        }
    }

    private static func insertionSort(
        _ keys: inout Slab<RankKey>,
        _ range: Range<Int>,
        _ posts: borrowing PostTable
    ) {
        for index in range.dropFirst() {
            let key = keys[index]
            var place = index
            while place > range.lowerBound, posts.precedes(key, keys[place - 1]) {
                keys[place] = keys[place - 1]
                place -= 1
            }
            keys[place] = key
        }
    }

    /// Sorts by the standard library's sort, in an array; O(n log n).
    private static func sortInArray(
        _ keys: inout Slab<RankKey>,
        _ range: Range<Int>,
        _ posts: borrowing PostTable
    ) {
        var sorted: [RankKey] = []
        sorted.reserveCapacity(range.count)
        for index in range { sorted.append(keys[index]) }
        sorted.sort { posts.precedes($0, $1) }
        for index in range { keys[index] = sorted[index - range.lowerBound] }
    }
}
