import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization

extension ModelRun {
    /// Corrects posts behind some id that lie after some time, or only finds them.
    mutating func correctTimes() throws {
        let now = clock.milliseconds.load(ordering: .relaxed)
        let bound = random.oneIn(3) ? now : Int64.random(in: 0...now + 300_000, using: &random)
        let start = random.oneIn(2) ? 0 : UInt64.random(in: 0...givenCount + 3, using: &random)
        let idCount = ([1, 30, 1_000_000] as [UInt64]).randomElement(using: &random) ?? 1
        let postCount = [1, 3, 100].randomElement(using: &random) ?? 1
        // Few different times, so that ties are frequent.
        let correction = random.oneIn(4) ? nil : bound - bound % 1_000_000_000
        let found = store.postsAhead(
            of: bound,
            behind: PostID(rawValue: start),
            idCount: idCount,
            postCount: postCount,
            correctingTo: correction
        )
        let first = min(start, givenCount) + 1
        let expected = model.correctTimes(
            after: bound,
            to: correction,
            ids: first..<min(givenCount, start + idCount) + 1,
            postCount: postCount
        )
        try expect(
            found.posts.map(\.id.rawValue) == expected.found.map(\.id)
                && found.posts.map(\.createTimeMilliseconds) == expected.found.map(\.time)
                && found.posts.map(\.updateTimeMilliseconds) == expected.found.map(\.updateTime),
            "times: \(found.posts), not \(expected.found)"
        )
        let next = expected.lastID < givenCount ? PostID(rawValue: expected.lastID) : nil
        try expect(start >= givenCount || found.next == next, "times: \(found), not \(expected)")
        let isCorrected = correction != nil && !expected.found.isEmpty
        try expect(found.revision == (isCorrected ? model.revision : 0), "times: revision")
    }
}
