import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization

extension ModelRun {
    /// Imports a few posts, or many: with times before, among and behind those that are there.
    mutating func importPosts() throws {
        let most = random.oneIn(10) ? 256 : 5
        let count = Int.random(in: 1...most, using: &random)
        guard ids.count + count <= shape.postLimit else { return }
        let feed = feeds.randomElement(using: &random) ?? feeds[0]
        var posts: [ImportedPost] = []
        for _ in 0..<count { posts.append(importedPost()) }
        let outcome = try store.importPosts(posts, in: feed)
        try expect(outcome.firstID.rawValue == givenCount + 1, "import: \(outcome.firstID)")
        for post in posts {
            model.revision += 1
            givenCount += 1
            let time =
                model.ignoresImportedTimes
                ? 1_800_000_000_000 + Int64(givenCount) : post.createTimeMilliseconds
            model.posts[givenCount] = FeedModel.Post(
                id: givenCount,
                feed: feed.rawValue,
                content: post.content,
                time: time,
                updateTime: time,
                upvotes: post.upvoteCount,
                downvotes: post.downvoteCount,
                revision: model.revision,
                editRevision: model.revision
            )
            ids.append(givenCount)
        }
        try expect(outcome.revision == model.revision, "import: revision \(outcome.revision)")
        for id in outcome.refreshDue where random.oneIn(2) { store.refresh(stripeOf: id) }
    }

    private mutating func importedPost() -> ImportedPost {
        let now = clock.milliseconds.load(ordering: .relaxed)
        let times = [
            0, 1, 999, 1_134_028_003_000, now, now - 1, now + 300_000,
            Int64.random(in: 0...now, using: &random),
            // Few seconds, so that many posts share one.
            now - 1_000 * Int64.random(in: 0..<8, using: &random),
        ]
        return ImportedPost(
            content: PostContent(
                authorName: random.oneIn(2) ? "author" : "",
                title: shape.titles.randomElement(using: &random) ?? "",
                thumbnailURL: random.oneIn(3) ? "http://thumbnail" : "",
                commentCount: random.oneIn(9) ? 1 << 53 : 3
            ),
            createTimeMilliseconds: times.randomElement(using: &random) ?? 0,
            upvoteCount: importedCount(),
            downvoteCount: importedCount()
        )
    }

    /// Mostly about what votes make of a post, so that the two mix; at times the most there may be.
    private mutating func importedCount() -> UInt64 {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: RankingLimits.maximumImportedCount
        case 1, 2: UInt64.random(in: 0..<10_000, using: &random)
        case 3, 4, 5: 0
        default: UInt64.random(in: 0..<12, using: &random)
        }
    }
}
