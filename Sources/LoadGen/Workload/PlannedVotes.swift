/// The votes that a run plans: so many of each number, without a place in memory for each vote.
///
/// The votes are numbered from 0, those of number 0 first. Finding the number of a vote takes one
/// look into a table and a short binary search: O(1) expected for a random vote, O(log n) at worst.
package struct PlannedVotes: Sendable {
    /// The most votes of a run.
    package static let maximumCount = 1 << 40

    /// How many votes there are.
    package let count: Int

    /// By number: the votes of it and of all numbers before it.
    private let ends: [UInt64]
    /// By the high bits of a vote: the number of the first vote with these bits; one more at the
    /// end.
    private let firsts: [UInt32]
    private let shift: Int

    /// `counts[n]` votes of number n; their sum is at most `maximumCount`.
    package init(_ counts: [UInt64]) {
        var ends: [UInt64] = []
        ends.reserveCapacity(counts.count)
        var sum: UInt64 = 0
        for count in counts {
            sum += count
            ends.append(sum)
        }
        precondition(
            sum <= UInt64(Self.maximumCount),
            "A run has at most \(Self.maximumCount) votes."
        )
        count = Int(sum)
        var shift = 0
        while sum >> shift > UInt64(2 * counts.count) { shift += 1 }
        var firsts: [UInt32] = []
        var number = 0
        for vote in stride(from: 0 as UInt64, to: sum, by: 1 << shift) {
            while ends[number] <= vote { number += 1 }
            firsts.append(UInt32(number))
        }
        firsts.append(UInt32(max(counts.count, 1) - 1))
        self.ends = ends
        self.firsts = firsts
        self.shift = shift
    }

    /// The bytes that the votes of `numberCount` numbers take at most.
    package static func byteCount(numberCount: Int) -> Int {
        8 * numberCount + 4 * (2 * numberCount + 2)
    }

    /// The number of a vote, which is below `count`.
    @inline(__always)
    package func number(of vote: Int) -> UInt32 {
        let place = vote &>> shift
        var low = Int(firsts[place])
        var high = Int(firsts[place + 1])
        while low < high {
            let middle = (low &+ high) / 2
            if ends[middle] > UInt64(truncatingIfNeeded: vote) {
                high = middle
            } else {
                low = middle &+ 1
            }
        }
        return UInt32(truncatingIfNeeded: low)
    }
}
