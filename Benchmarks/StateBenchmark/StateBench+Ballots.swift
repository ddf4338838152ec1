import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport

/// Ballots of 10,000 users.
extension StateBench {
    private static let voterCount: UInt32 = 10_000

    /// Makes the feed of users' ballots, its posts and its voters.
    mutating func createBallotFeed(postCount: UInt64) throws {
        feed = FeedID(rawValue: 2)
        keepsBallots = true
        var entries = [LogEntry.feed(feed, FeedPolicy(name: "ballots", voteMode: .ballot))]
        for number in 0..<Self.voterCount {
            entries.append(.userVoter(Self.voter(number), userID: 1 << 63 | UInt64(number)))
        }
        var memtable = Memtable()
        try memtable.add(body(entries), at: position())
        try checkpoint(memtable, "\(Self.voterCount) users")
        try create(upTo: postCount)
    }

    /// Adds a million ballots to a memtable, and again.
    mutating func addBallots(postCount: UInt64) throws {
        var generator = SeededGenerator(seed: 3)
        let bodies = (0..<500).map { _ in
            body(ballots(2_000, postCount: postCount, using: &generator))
        }
        var memtable = Memtable()
        for pass in ["a ballot to a memtable", "the same again"] {
            let time = ContinuousClock().measure {
                for body in bodies { try? memtable.add(body, at: position()) }
            }
            let byteCount = memtable.byteCount
            report("add \(pass), \(byteCount >> 20) MiB", time / 1_000_000, "ns")
        }
    }

    /// Checkpoints so many ballots, a million at a time.
    mutating func cast(ballotCount: Int, postCount: UInt64) throws {
        var generator = SeededGenerator(seed: 4)
        var left = ballotCount
        while left > 0 {
            var memtable = Memtable()
            for _ in 0..<10 where left > 0 {
                let count = min(left, 100_000)
                left -= count
                let entries = ballots(count, postCount: postCount, using: &generator)
                try memtable.add(body(entries), at: position())
            }
            let isQuiet = left > 0
            try checkpoint(memtable, "ballots, a million at a time", isQuiet: isQuiet)
        }
    }

    private mutating func ballots(
        _ count: Int,
        postCount: UInt64,
        using generator: inout SeededGenerator
    ) -> [LogEntry] {
        (0..<count).map { _ in
            revision += 1
            let number = UInt32.random(in: 0..<Self.voterCount, using: &generator)
            let counts = PostCounts(
                id: PostID(rawValue: .random(in: 1...postCount, using: &generator)),
                upvoteCount: 10,
                downvoteCount: 1,
                revision: revision
            )
            return .ballot(counts, Self.voter(number), generator.oneIn(10) ? .down : .up)
        }
    }

    private static func voter(_ number: UInt32) -> VoterID {
        VoterID(rawValue: (1 << 29) + number)
    }
}
