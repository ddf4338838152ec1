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
        if let difference = difference(toBallotsOf: store) { return difference }
        guard store.feeds().map(\.policy) == feeds else { return "The feeds are others." }
        let known = (0..<Self.deviceCount).filter { store.voter(ifKnown: ($0, ~$0)) != nil }
        guard Set(known) == devices else { return "The voters are \(known), expected \(devices)." }
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

    private func difference(toBallotsOf store: FeedStore) -> String? {
        for device in 0..<Self.deviceCount {
            guard let voter = store.voter(ifKnown: (device, ~device)) else { continue }
            var missing: [PostID] = []
            var page = PostPage()
            let ids = posts.keys.sorted().map { PostID(rawValue: $0) }
            _ = store.posts(ids, voter: voter, missing: &missing, into: &page)
            for row in page.rows {
                let expected = posts[row.id.rawValue]?.ballots[device]
                guard row.viewerVote != expected else { continue }
                return "Device \(device) has another ballot on post \(row.id.rawValue)."
            }
        }
        return nil
    }
}
