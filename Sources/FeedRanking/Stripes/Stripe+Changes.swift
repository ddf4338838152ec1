extension Stripe {
    /// A post's votes as a change; O(1).
    @inline(__always)
    func counts(_ slot: UInt32, _ record: PostRecord) -> PostCounts {
        PostCounts(
            id: id(slot),
            upvoteCount: record.upvoteCount,
            downvoteCount: record.downvoteCount,
            revision: record.revision
        )
    }

    /// A whole post as a change, with its content if the caller has it at hand; O(its texts).
    func state(_ slot: UInt32, _ content: PostContent? = nil) -> PostState {
        let record = posts[slot]
        return PostState(
            counts: counts(slot, record),
            feed: record.feed,
            keepsBallots: record.flags.contains(.keepsBallots),
            createTimeMilliseconds: record.createTimeMilliseconds,
            updateTimeMilliseconds: record.content.updateTimeMilliseconds,
            editRevision: record.content.editRevision,
            content: content ?? record.content.content
        )
    }
}
