import FeedRanking

extension BenchmarkRun {
    private static let userCount: UInt64 = 10_000
    private static let ballotPostCount: UInt64 = 1_000

    /// The memory of ten million ballots: of 10,000 users on 1,000 posts.
    mutating func measureBallots() {
        let policy = FeedPolicy(name: "ballots", voteMode: .userBallot)
        guard let feed = try? store.createFeed(policy) else { return }
        let post = ImportedPost(content: PostContent(), createTimeMilliseconds: 0)
        var ids: [PostID] = []
        for _ in 0..<Self.ballotPostCount {
            if let outcome = try? store.importPosts([post], in: feed) {
                ids.append(outcome.firstID)
            }
        }
        let before = Measurement.residentByteCount()
        let users = (0..<Self.userCount).compactMap { number in
            try? store.voter(for: .user(1 << 63 | number))
        }
        let bytesOfUsers = Measurement.residentByteCount() - before
        Measurement.show("a user", Double(bytesOfUsers) / Double(users.count), "bytes")
        var (count, most, last) = (0, 0.0, 0.0)
        for user in users {
            for id in ids { _ = try? store.castVote(id, .up, voter: user, at: weight) }
            count += ids.count
            guard count % 1_000_000 == 0 else { continue }
            let bytes = Measurement.residentByteCount() - before - bytesOfUsers
            last = Double(bytes) / Double(count)
            most = max(most, last)
        }
        Measurement.show("a ballot, of \(count)", last, "bytes")
        Measurement.show("  the most after any million", most, "bytes")
    }
}
