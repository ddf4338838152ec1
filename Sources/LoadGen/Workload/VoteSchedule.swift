/// The votes that one thread casts, each once, in random order.
///
/// The votes of all threads together are exactly the planned ones. They are spread out and shuffled
/// (Fisher and Yates; Durstenfeld, 1964): 4 bytes a vote and one read for each. Drawing from the
/// remaining votes (a Fenwick tree) would take a few bytes a post and some 50 ns a vote.
package struct VoteSchedule: Sendable {
    /// The most votes over all threads; with more the schedules would take over 2 GB.
    package static let maximumVoteCount: UInt64 = 500_000_000

    /// How many votes it has in all.
    package var count: Int { numbers.count }

    private var numbers: [UInt32] = []
    private var nextPlace = 0

    /// A schedule without votes.
    package init() {}

    /// The share of thread number `thread`: of `counts[n]` votes of number n it gets as many as the
    /// other threads, or one more.
    package init(_ counts: [UInt64], thread: Int, threadCount: Int, seed: UInt64) {
        var votesBefore: UInt64 = 0
        for (number, count) in counts.enumerated() {
            // Dealt round robin over all numbers, so that no thread gets the odd vote of every
            // post.
            let share =
                Self.dealt(votesBefore + count, thread, threadCount)
                - Self.dealt(votesBefore, thread, threadCount)
            votesBefore += count
            numbers.append(contentsOf: repeatElement(UInt32(number), count: Int(share)))
        }
        var stream = RandomStream(seed: seed, thread: thread, client: 0, purpose: .schedule)
        for place in numbers.indices.reversed() {
            numbers.swapAt(place, stream.nextIndex(below: place + 1))
        }
    }

    /// How many votes it still has.
    package var remainingCount: Int { numbers.count - nextPlace }

    /// The next vote's number; there must be one.
    package mutating func next() -> UInt32 {
        defer { nextPlace += 1 }
        return numbers[nextPlace]
    }

    /// How many of the first `count` votes a thread gets when they are dealt round robin.
    private static func dealt(_ count: UInt64, _ thread: Int, _ threadCount: Int) -> UInt64 {
        (count + UInt64(threadCount - 1 - thread)) / UInt64(threadCount)
    }
}

extension [UInt64] {
    /// The sum, or the greatest number where the sum exceeds it: a file may record any counts.
    package var clampedSum: UInt64 {
        reduce(0) { sum, count in
            let (more, isTooLarge) = sum.addingReportingOverflow(count)
            return isTooLarge ? .max : more
        }
    }
}
