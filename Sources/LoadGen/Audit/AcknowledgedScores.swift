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

    /// Notes the answer to a vote.
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
