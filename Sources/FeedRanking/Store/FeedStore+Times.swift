import Synchronization

/// Posts whose times lie ahead of the clock, because a wrong clock has stamped them.
extension FeedStore {
    /// The number of posts that were created or last edited after a time.
    ///
    /// O(posts), while a stripe is locked. The call is for a start, before other threads use the
    /// store.
    package func countPosts(after time: Int64) -> Int {
        var count = 0
        for number in 0..<stripes.count {
            count += stripes.withStripe(number) { $0.posts.count(after: time) }
        }
        return count
    }

    /// Finds posts that were created or last edited after a time, and corrects them if asked to.
    ///
    /// A correction replaces each of the two times that is after `bound`, and counts as an edit of
    /// the post. A repeated correction changes nothing more. O(`idCount`) plus the corrections,
    /// each O(its texts + log n an index).
    ///
    /// - Parameters:
    ///   - bound: The latest Unix time, in milliseconds, that is right.
    ///   - start: The id behind which the search begins.
    ///   - idCount: The most ids that are examined; above 0.
    ///   - postCount: The most posts that are found; above 0.
    ///   - textByteCount: The bytes of texts after which the search ends.
    ///   - correction: The time to set, at most `bound`; nil only finds the posts.
    ///   - sink: The sink that takes the change of corrections.
    /// - Returns: The posts found, and the id behind which the next search begins.
    package func postsAhead(
        of bound: Int64,
        behind start: PostID,
        idCount: UInt64,
        postCount: Int,
        textByteCount: Int = .max,
        correctingTo correction: Int64? = nil,
        sink: some ChangeSink = NoChanges()
    ) -> PostsAhead {
        precondition(
            correction.map { (0...bound).contains($0) } ?? true,
            "A corrected time is right itself, as its caller checks."
        )
        var found = PostsAhead()
        let last = lastID.load(ordering: .relaxed)
        var id = start.rawValue
        let end = last - min(id, last) > idCount ? id + idCount : last
        while id < end, found.posts.count < postCount, found.textByteCount < textByteCount {
            id += 1
            visit(PostID(rawValue: id), bound, correctingTo: correction, sink, into: &found)
        }
        if id < last { found.next = PostID(rawValue: id) }
        return found
    }

    /// A post that was found, the bytes of its texts, and the result of its correction.
    private typealias Seen = (PostAhead, Int, WriteOutcome?)

    /// Adds a post that lies ahead to the posts found, and corrects it where a time is given; O(1)
    /// plus the correction.
    private func visit(
        _ id: PostID,
        _ bound: Int64,
        correctingTo correction: Int64?,
        _ sink: some ChangeSink,
        into found: inout PostsAhead
    ) {
        // Few of the ids have such a post and a correction: most ids are only examined.
        let seen = stripes.withStripe(of: id) { stripe -> Seen? in
            guard let slot = stripe.liveSlot(id), stripe.posts.isAhead(slot, of: bound) else {
                return nil
            }
            let content = stripe.posts[slot].content.content
            let byteCount = stripe.textByteCount(slot)
            let post = PostAhead(
                id: id,
                feed: stripe.posts[slot].feed,
                title: content.title,
                createTimeMilliseconds: stripe.posts[slot].createTimeMilliseconds,
                updateTimeMilliseconds: stripe.posts[slot].content.updateTimeMilliseconds
            )
            guard let correction else { return (post, byteCount, nil) }
            let revision = changes.take(showing: post.feed)
            stripe.setTimes(
                slot,
                content,
                createTimeMilliseconds: post.createTimeMilliseconds > bound
                    ? correction : post.createTimeMilliseconds,
                updateTimeMilliseconds: post.updateTimeMilliseconds > bound
                    ? correction : post.updateTimeMilliseconds,
                revision: revision
            )
            if !sink.isNone { sink.append(stripe.state(slot, content)) }
            let written = WriteOutcome(revision: revision, refreshIsDue: stripe.refreshIsDue)
            return (post, byteCount, written)
        }
        guard let (post, byteCount, written) = seen else { return }
        found.posts.append(post)
        found.textByteCount += byteCount
        guard let written else { return }
        found.revision = max(found.revision, written.revision)
        if written.refreshIsDue, !found.refreshDue.contains(where: { shareStripe($0, id) }) {
            found.refreshDue.append(id)
        }
    }
}

extension PostTable {
    /// The number of posts that were created or last edited after a time; O(posts).
    fileprivate func count(after time: Int64) -> Int {
        var count = 0
        forEachSlot { slot in
            if isAhead(slot, of: time) { count += 1 }
        }
        return count
    }

    /// Whether a post was created or last edited after a time; O(1).
    fileprivate func isAhead(_ slot: UInt32, of time: Int64) -> Bool {
        self[slot].createTimeMilliseconds > time
            || self[slot].content.updateTimeMilliseconds > time
    }
}
