/// Checks a walk over all pages of a feed while nothing is sent.
///
/// Every post must appear once, in order and with the score it had when the votes were counted, and
/// no post may appear that no request created.
package struct FeedWalk: Sendable {
    /// What the walk knows before it starts.
    package struct Expectation: Sendable {
        /// The score of each post of the run, read after the last answer.
        package var scores: [UInt64: Int64]
        /// Posts that acknowledged requests of the run created.
        package var createdIDs: Set<UInt64>
        /// Titles of posts that requests without an answer may have created.
        package var unknownTitles: Set<String>
        /// Posts from before the run are older than this, by the service's clock.
        package var startMilliseconds: Int64
        /// Posts that another run created are newer than this, by the service's clock.
        package var endMilliseconds: Int64
        /// Whether the list may hold no other posts.
        package var isWhole: Bool

        /// The values that a walk compares with.
        package init(
            scores: [UInt64: Int64],
            createdIDs: Set<UInt64> = [],
            unknownTitles: Set<String> = [],
            startMilliseconds: Int64 = 0,
            endMilliseconds: Int64 = .max,
            isWhole: Bool = false
        ) {
            self.scores = scores
            self.createdIDs = createdIDs
            self.unknownTitles = unknownTitles
            self.startMilliseconds = startMilliseconds
            self.endMilliseconds = endMilliseconds
            self.isWhole = isWhole
        }
    }

    /// The violations so far.
    package private(set) var findings = Findings()
    /// Posts seen so far.
    package private(set) var seenCount = 0

    private let expectation: Expectation
    private var seenIDs: Set<UInt64> = []
    private var seenUnknownTitles: Set<String> = []
    private var last: ListedPost?

    /// A walk that has seen no page.
    package init(_ expectation: Expectation) {
        self.expectation = expectation
    }

    /// Checks the next page.
    package mutating func visit(_ posts: [ListedPost]) {
        for post in posts {
            seenCount += 1
            guard seenIDs.insert(post.id).inserted else {
                findings.note(.listedTwice, "The walk lists post \(post.id) twice.")
                continue
            }
            if let last, !last.precedes(post) {
                findings.note(
                    .pageOrder,
                    """
                    The walk lists post \(post.id) with score \(post.score) behind post \(last.id) \
                    with score \(last.score).
                    """
                )
            }
            last = post
            check(post)
        }
    }

    /// Ends the walk; `announcedCount` is the size that the last page gave the list.
    package mutating func finish(announcedCount: UInt64?) {
        let wanted = Set(expectation.scores.keys).union(expectation.createdIDs)
        for id in wanted.subtracting(seenIDs).sorted() {
            findings.note(.notListed, "No page lists post \(id).")
        }
        if let announcedCount, announcedCount != UInt64(seenCount) {
            findings.note(
                .walkCount,
                "The walk lists \(seenCount) posts, the list says it has \(announcedCount)."
            )
        }
    }

    private mutating func check(_ post: ListedPost) {
        if let score = expectation.scores[post.id] {
            if score != post.score {
                findings.note(
                    .movingScore,
                    "Post \(post.id) had score \(score) after the run and \(post.score) on its page."
                )
            }
            return
        }
        if expectation.isWhole {
            let title = post.title.debugDescription
            findings.note(.phantomPost, "Post \(post.id) was not imported: \(title).")
            return
        }
        guard !expectation.createdIDs.contains(post.id), PostText.isTitle(post.title),
            post.createTimeMilliseconds >= expectation.startMilliseconds,
            post.createTimeMilliseconds <= expectation.endMilliseconds
        else { return }
        let isUnknown = expectation.unknownTitles.contains(post.title)
        if !isUnknown || !seenUnknownTitles.insert(post.title).inserted {
            findings.note(
                .phantomPost,
                "No request created post \(post.id) with the title \"\(post.title)\"."
            )
        }
    }
}
