extension Stripe {
    /// Appends a post to a page; O(1) beside its texts.
    func appendRow(_ slot: UInt32, _ voter: VoterID?, to page: inout PostPage) {
        let record = posts[slot]
        let none = TextRange(offset: 0, count: 0)
        var row = PostRow(
            id: id(slot),
            feed: record.feed,
            score: record.score,
            upvoteCount: record.upvoteCount,
            downvoteCount: record.downvoteCount,
            commentCount: 0,
            createTimeMilliseconds: record.createTimeMilliseconds,
            updateTimeMilliseconds: 0,
            revision: record.revision,
            viewerVote: nil,
            authorName: none,
            title: none,
            text: none,
            linkURL: none,
            thumbnailURL: none,
            imageURL: none
        )
        if let voter, record.flags.contains(.keepsBallots) {
            row.viewerVote = ballots.ballot(slot, voter)
        }
        record.content.append(to: &page.texts, row: &row)
        page.rows.append(row)
    }

    /// The bytes of a post's texts, which decide whether a page still takes it.
    func textByteCount(_ slot: UInt32) -> Int {
        posts[slot].content.textByteCount
    }

    /// Whether a post still has the key an entry was collected with.
    func stillHas(_ entry: MergeEntry, _ slot: UInt32, _ kind: IndexKind) -> Bool {
        let key = key(kind, slot, posts[slot], posts[slot].score)
        return key.primary == entry.primary && key.secondary == entry.secondary
    }

    /// Appends the title of an entry's post, or where that has changed what the key has of it.
    func appendTitle(of entry: MergeEntry, to titles: inout [UInt8]) {
        if let slot = liveSlot(entry.id), posts[slot].titlePrefix == entry.secondary {
            posts[slot].content.appendTitle(to: &titles)
        } else {
            titles.append(contentsOf: RankKey.titleBytes(prefix: entry.secondary))
        }
    }
}
