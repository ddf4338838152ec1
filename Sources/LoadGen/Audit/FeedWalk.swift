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

    package private(set) var findings = Findings()
    package private(set) var seenCount = 0

    private let expectation: Expectation
    private var seenIDs: Set<UInt64> = []
    private var seenUnknownTitles: Set<String> = []
    private var last: ListedPost?

    package init(_ expectation: Expectation) {
        self.expectation = expectation
    }

    /// Checks the next page; returns whether it has a post that no page before it had.
    @discardableResult
    package mutating func visit(_ posts: [ListedPost]) -> Bool {
        let knownCount = seenIDs.count
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
        return seenIDs.count > knownCount
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

/// A list that the audit walks in the order TOP, from its first page to its last.
struct AuditedList: Sendable {
    /// The feed; empty is the front page over all feeds.
    var feed: String
    /// What the walk compares with; the scores are added when they are read.
    var expectation: FeedWalk.Expectation
    /// The posts of the run that the list has; nil means all of them.
    var ids: Set<UInt64>?
}

extension AuditedList {
    /// The feed of a run of a workload, which may have had posts before.
    init(
        feed: String,
        _ knowledge: AuditKnowledge,
        startMilliseconds: Int64,
        endMilliseconds: Int64 = .max
    ) {
        self.init(
            feed: feed,
            expectation: FeedWalk.Expectation(
                scores: [:],
                createdIDs: knowledge.createdIDs,
                unknownTitles: knowledge.unknownTitles,
                startMilliseconds: startMilliseconds,
                endMilliseconds: endMilliseconds
            )
        )
    }

    /// The lists of feeds that files filled, and the front page over all feeds.
    static func lists(of feeds: [RunRecord.Feed]) -> [AuditedList] {
        // The front page also lists the service's other posts, which are not of this run.
        let front = FeedWalk.Expectation(scores: [:], startMilliseconds: .max)
        return feeds.map { feed in
            AuditedList(
                feed: feed.name,
                expectation: FeedWalk.Expectation(scores: [:], isWhole: true),
                ids: Set(feed.ids)
            )
        } + [AuditedList(feed: "", expectation: front)]
    }
}

/// A post as a page in the order TOP shows it.
package struct ListedPost: Sendable, Equatable {
    package var id: UInt64
    package var score: Int64
    /// Its title, which orders equal scores.
    package var title: String
    package var createTimeMilliseconds: Int64

    package init(id: UInt64, score: Int64, title: String, createTimeMilliseconds: Int64 = 0) {
        self.id = id
        self.score = score
        self.title = title
        self.createTimeMilliseconds = createTimeMilliseconds
    }

    /// Whether this post may stand directly before `next`: higher score first, then the title by
    /// the bytes of its UTF-8, then the lower id.
    package func precedes(_ next: ListedPost) -> Bool {
        if score != next.score { return score > next.score }
        // Compared by bytes: strings that Swift treats as equal may have different bytes.
        if !title.utf8.elementsEqual(next.title.utf8) {
            return title.utf8.lexicographicallyPrecedes(next.title.utf8)
        }
        return id < next.id
    }
}

/// Checks pages one by one: inside a page the order holds and no post comes twice.
package enum PageCheck {
    /// Checks one page that was read while votes may have changed the order between pages.
    package static func check(_ posts: [ListedPost], into findings: inout Findings) {
        for (post, next) in zip(posts, posts.dropFirst())
        where post.id != next.id && !post.precedes(next) {
            findings.note(
                .pageOrder,
                """
                Post \(next.id) with score \(next.score) stands behind post \(post.id) \
                with score \(post.score).
                """
            )
        }
        if Set(posts.map(\.id)).count < posts.count {
            findings.note(.listedTwice, "A page of \(posts.count) posts lists one of them twice.")
        }
    }
}

/// The scores that acknowledged votes have shown to a thread, and that later pages must show.
///
/// Scores only rise in such a run. A post has on a page at least the highest score that a vote has shown, if
/// that vote was answered before the page was asked for. A post above the last one of a first page is on
/// that page; this is checked for the post with the highest score.
package struct AcknowledgedScores: Sendable {
    private struct Shown {
        var score: Int64
        /// When the answer came, in nanoseconds.
        var time: UInt64
    }

    /// When the answers that are being noted came, in nanoseconds.
    package var time: UInt64 = 0
    private var posts: [UInt64: Shown] = [:]
    private var highest: (id: UInt64, shown: Shown)?

    /// No votes; nil for a run without pages, or one in which scores may fall.
    package init?(of mix: Mix, _ tallied: Tallied) {
        let hasPages = mix.operations.contains { $0 == .list || $0 == .page }
        guard hasPages, tallied == .scores else { return nil }
    }

    package mutating func note(_ id: UInt64, score: Int64) {
        // Answers of several connections may come in another order than the votes were counted.
        guard score > posts[id]?.score ?? .min else { return }
        let shown = Shown(score: score, time: time)
        posts[id] = shown
        if score > highest?.shown.score ?? .min { highest = (id, shown) }
    }

    /// Checks a page that was asked for at a time, in nanoseconds; O(posts of the page).
    package func check(
        _ page: [ListedPost],
        isFirst: Bool,
        askedAt time: UInt64,
        into findings: inout Findings
    ) {
        for post in page {
            guard let shown = posts[post.id], shown.time < time, shown.score > post.score else {
                continue
            }
            findings.note(
                .stalePage,
                """
                A page shows post \(post.id) with score \(post.score), after a vote had shown \
                \(shown.score).
                """
            )
        }
        guard isFirst, let last = page.last, let (id, shown) = highest, shown.time < time,
            shown.score > last.score, !page.contains(where: { $0.id == id })
        else { return }
        findings.note(
            .stalePage,
            """
            A first page ends with score \(last.score), without post \(id), of which a vote had shown \
            \(shown.score).
            """
        )
    }
}

extension RESPPage {
    /// Checks the order inside the page; `last` is the entry before it, if that is known.
    func check(after last: Entry? = nil, into findings: inout Findings) {
        var last = last
        for entry in entries {
            if let last, last.post == entry.post {
                findings.note(.listedTwice, "A page lists post \(entry.post) twice.")
            } else if let last, !last.precedes(entry) {
                findings.note(
                    .pageOrder,
                    """
                    Post \(entry.post) with score \(entry.score) stands behind post \(last.post) \
                    with score \(last.score).
                    """
                )
            }
            last = entry
        }
    }
}
