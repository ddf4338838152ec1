import FeedRanking

extension CommandModel {
    /// What is otherwise in what a start has found; nil where all is alike.
    ///
    /// Counters may be ahead in the store, except the one of ids.
    func difference(to life: borrowing DurableLife) -> String? {
        let accounts = viewers.accountsState
        guard life.accounts.isAlike(accounts) else {
            return "Found \(life.accounts), expected \(accounts)."
        }
        return difference(to: life.store, life.channels)
    }

    private func difference(to store: FeedStore, _ channels: ChannelTable) -> String? {
        if let difference = difference(toPostsOf: store) { return difference }
        if let difference = difference(toVotersOf: store) { return difference }
        guard store.feeds().map(\.policy) == feeds else { return "The feeds are others." }
        guard store.highestID == lastID else {
            return "The highest id is \(store.highestID), expected \(lastID)."
        }
        guard store.revision >= revision else {
            return "The revision is \(store.revision), expected at least \(revision)."
        }
        guard channels.names == Set(calls.keys) else {
            return "The channels are \(channels.names), expected \(Set(calls.keys))."
        }
        for channel in calls.keys.sorted() {
            let found = channels.remembered(channel)
            let expected = remembered(channel)
            guard found != expected else { continue }
            let others = Set(found.keys).union(expected.keys).sorted()
                .filter { found[$0] != expected[$0] }
            return "Channel \(channel) has other outcomes of calls \(others)."
        }
        return nil
    }

    private func difference(toPostsOf store: FeedStore) -> String? {
        var found: [UInt64: PostState] = [:]
        store.forEachPost { found[$0.counts.id.rawValue] = $0 }
        for id in Set(found.keys).union(posts.keys).sorted() {
            guard let state = found[id] else { return "Post \(id) is missing." }
            guard let post = posts[id] else { return "Post \(id) should not be there." }
            let expected = PostState(
                counts: PostCounts(
                    id: PostID(rawValue: id),
                    upvoteCount: post.upvotes,
                    downvoteCount: post.downvotes,
                    revision: post.revision,
                    risingSum: post.risingSum
                ),
                feed: FeedID(rawValue: post.feed),
                keepsBallots: post.keepsBallots,
                createTimeMilliseconds: post.createTime,
                updateTimeMilliseconds: post.updateTime,
                editRevision: post.editRevision,
                content: post.content
            )
            guard state == expected else { return "Found \(state), expected \(expected)." }
        }
        guard store.postCount == UInt64(posts.count) else { return "The count of posts is wrong." }
        return nil
    }

    private func difference(toVotersOf store: FeedStore) -> String? {
        for key in Self.voters {
            let voter = store.voter(ifKnown: key)
            guard (voter != nil) == voters.contains(key) else {
                return "\(key) has the voter number \(String(describing: voter))."
            }
            guard let voter else { continue }
            if let difference = difference(toBallotsOf: key, voter, store) { return difference }
            if let difference = difference(toMarksOf: key, voter, store) { return difference }
        }
        return nil
    }

    private func difference(
        toBallotsOf key: VoterKey,
        _ voter: VoterID,
        _ store: FeedStore
    ) -> String? {
        var missing: [PostID] = []
        var page = PostPage()
        let ids = posts.keys.sorted().map { PostID(rawValue: $0) }
        _ = store.posts(ids, voter: voter, missing: &missing, into: &page)
        for row in page.rows where row.viewerVote != posts[row.id.rawValue]?.ballots[key] {
            return "\(key) has another ballot on post \(row.id)."
        }
        return nil
    }

    private func difference(
        toMarksOf key: VoterKey,
        _ viewer: VoterID,
        _ store: FeedStore
    ) -> String? {
        let found = store.marks(of: viewer) ?? ViewerMarks()
        let expected = marks[key] ?? MarkModel()
        for post in posts.keys.sorted().compactMap(origin) {
            let (state, wanted) = (found.state(of: post), expected.state(of: post))
            guard state == wanted else {
                return "\(key) has \(state) of post \(post.id), expected \(wanted)."
            }
        }
        return nil
    }
}
