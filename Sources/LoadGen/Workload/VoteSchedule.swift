/// The votes that one thread casts, each once, in random order.
///
/// All threads share one order of all planned votes, a ``Permutation`` of their numbers: thread t of
/// T casts the votes at t, t + T, t + 2T and so on. Each vote is computed when its time comes, so a
/// schedule takes the same memory for a thousand votes and for a trillion.
package struct VoteSchedule: Sendable {
    package let count: Int

    private let votes: PlannedVotes
    private let order: Permutation
    private let threadCount: Int
    /// The place in the order of the vote after those in `ahead`.
    private var place: Int
    /// The numbers of the next votes, and the votes themselves.
    ///
    /// They are computed together, one step of all votes after the other: the steps of one vote wait
    /// for each other, those of several votes overlap. A vote costs 24 ns instead of 40.
    private var ahead: [UInt32]
    private var votesAhead: [Int]
    private var next = 0
    private var takenCount = 0

    package init() {
        self.init(PlannedVotes([]), thread: 0, threadCount: 1, seed: 0)
    }

    /// The share of thread number `thread` in `votes`: as many as the other threads, or one more.
    package init(_ votes: PlannedVotes, thread: Int, threadCount: Int, seed: UInt64) {
        precondition(thread >= 0 && thread < threadCount, "No such thread.")
        self.votes = votes
        self.threadCount = threadCount
        order = Permutation(count: max(votes.count, 1), seed: seed, purpose: .schedule)
        place = thread
        count = (votes.count + threadCount - 1 - thread) / threadCount
        ahead = [UInt32](repeating: 0, count: Self.aheadCount)
        votesAhead = [Int](repeating: 0, count: Self.aheadCount)
        next = Self.aheadCount
    }

    package var remainingCount: Int { count - takenCount }

    /// The next vote's number; there must be one.
    @inline(__always)
    package mutating func takeNext() -> UInt32 {
        if next == Self.aheadCount { lookAhead() }
        defer {
            next &+= 1
            takenCount &+= 1
        }
        return ahead[next]
    }

    @inline(never)
    private mutating func lookAhead() {
        precondition(remainingCount > 0, "The schedule has no more votes.")
        let count = min(Self.aheadCount, remainingCount)
        for index in 0..<count { votesAhead[index] = order(place &+ index &* threadCount) }
        for index in 0..<count { ahead[index] = votes.number(of: votesAhead[index]) }
        place &+= count &* threadCount
        next = 0
    }

    private static let aheadCount = 64
}

/// The votes that a run plans: so many of each number, without a place in memory for each vote.
///
/// The votes are numbered from 0, those of number 0 first. Finding the number of a vote takes one
/// look into a table and a short binary search: O(1) expected for a random vote, O(log n) at worst.
package struct PlannedVotes: Sendable {
    package static let maximumCount = 1 << 40

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

/// A pseudorandom bijection of 0 ..< `count` onto itself, which is computed and not stored: every
/// rank gets one post and every post one rank; every vote of a schedule comes once.
///
/// A generalised Feistel network over pairs of numbers, with cycle walking (Black and Rogaway,
/// "Ciphers with Arbitrary Finite Domains", 2002). It has four rounds, after which ideal round
/// functions would give an order like a random one (Luby and Rackoff, 1988). The round function is
/// the mixer of SplitMix64 and no cipher: the order spreads values well and hides nothing.
///
/// It is a bijection for every seed. Of the `count`! orders at most 2^64 can occur.
package struct Permutation: Sendable {
    package let count: Int

    // A value is high << lowBitCount | low, with high below highCount. Fewer than 2^lowBitCount
    // pairs, about the root of the count, lie beyond the last value.
    private let lowBitCount: UInt64
    private let highCount: UInt64
    private let keys: [4 of UInt64]

    /// The permutation that `seed` names; `purpose` separates permutations of one seed.
    package init(count: Int, seed: UInt64, purpose: RandomStream.Purpose = .scatter) {
        precondition(count >= 1 && count < 1 << 62, "A permutation has 1 to 2^62 - 1 values.")
        self.count = count
        lowBitCount = UInt64(Int.bitWidth - count.leadingZeroBitCount) / 2
        highCount = (UInt64(count) + (1 << lowBitCount) - 1) >> lowBitCount
        var stream = RandomStream(seed: seed, thread: 0, client: 0, purpose: purpose)
        keys = [stream.next(), stream.next(), stream.next(), stream.next()]
    }

    /// Where `index` goes; O(1) expected.
    @inline(__always)
    package func callAsFunction(_ index: Int) -> Int {
        precondition(index >= 0 && index < count, "The index lies outside the permutation.")
        var value = UInt64(index)
        repeat { value = encipher(value) } while value >= UInt64(count)
        return Int(truncatingIfNeeded: value)
    }

    @inline(__always)
    private func encipher(_ value: UInt64) -> UInt64 {
        let mask = (1 as UInt64 &<< lowBitCount) &- 1
        var low = value & mask
        var high = value &>> lowBitCount
        low = (low &+ RandomStream.mix(high ^ keys[0])) & mask
        high = shift(high, by: RandomStream.mix(low ^ keys[1]))
        low = (low &+ RandomStream.mix(high ^ keys[2])) & mask
        high = shift(high, by: RandomStream.mix(low ^ keys[3]))
        return high &<< lowBitCount | low
    }

    /// `high` plus a random number, modulo `highCount`.
    @inline(__always)
    private func shift(_ high: UInt64, by random: UInt64) -> UInt64 {
        let sum = high &+ random.multipliedFullWidth(by: highCount).high
        return sum >= highCount ? sum &- highCount : sum
    }
}
