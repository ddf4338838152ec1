extension StandingLists {
    /// Traps where an invariant of the type does not hold; O(n).
    func checkInvariants(_ pass: borrowing ListPass) {
        var listed = SlotSet()
        listed.reserve(pass.posts.slotLimit)
        for place in 0..<stale.head.count where pass.posts.contains(stale.head[place]) {
            let slot = stale.head[place]
            if pass.posts[slot].flags.contains(.isInStaleHead) { listed.insert(slot) }
        }
        var tailCount = 0
        var nextInTail = stale.tail.next(from: 0)
        while let slot = nextInTail {
            let isMarked = pass.posts[slot].flags.contains(.isInStaleTail)
            precondition(isMarked, "A post of the stale tail lacks its flag.")
            listed.insert(slot)
            tailCount += 1
            nextInTail = stale.tail.next(from: Int(slot) + 1)
        }
        precondition(tailCount == stale.tailCount, "The stale tail is counted wrong.")
        var unindexed = 0
        var next = pass.posts.nextLiveSlot(from: 0)
        while let slot = next {
            checkPost(StalePost(slot, pass.posts[slot]), isListed: listed.bit(slot) == 1, pass)
            unindexed += pass.posts[slot].flags.contains(.isIndexed) ? 0 : 1
            next = pass.posts.nextLiveSlot(from: Int(slot) + 1)
        }
        precondition(unindexed == unindexedCount, "The unindexed posts are counted wrong.")
        let isCounted = front.postCount == pass.posts.count
        precondition(isCounted, "The lists of all feeds count other posts.")
        job.checkInvariants(pass.pool, pass.posts)
        for kind in KeyKind.standing {
            front[kind].checkInvariants(pass.pool, pass.posts)
            let count = front[kind].isBuilt && job.isIdle ? front[kind].count : nil
            let isWhole = count == nil || count == front.postCount - unindexed
            precondition(isWhole, "An index has other posts.")
            for number in 0..<feeds.count {
                feeds[number][kind].checkInvariants(pass.pool, pass.posts)
            }
        }
    }

    private func checkPost(_ post: StalePost, isListed: Bool, _ pass: borrowing ListPass) {
        let flags = pass.posts[post.slot].flags
        let isStale = flags.contains(.isInStaleHead) || flags.contains(.isInStaleTail)
        precondition(isStale == isListed, "A post's flags and the stale posts differ.")
        let isInBoth = flags.isSuperset(of: [.isInStaleHead, .isInStaleTail])
        precondition(!isInBoth, "A post is in the stale head and the stale tail.")
        let isFresh = post.wasIndexed && post.oldScore == post.newScore
        precondition(isFresh || isStale, "A post that moved is not stale.")
        for kind in KeyKind.standing {
            for feed in [post.feed, nil] where index(kind, feed).isBuilt {
                // A post cannot be checked alone in a list that the job has split or has not reached.
                guard job.progress(feed, kind) == .refreshed else { continue }
                let index = index(kind, feed)
                let old = pass.slots.key(kind, post, at: post.oldScore)
                let position = index.position(of: old, pass.pool, pass.posts)
                let isThere = index.key(at: position, pass.pool) == old
                precondition(!post.wasIndexed || isThere, "An index has lost a post.")
                guard flags.contains(.isInStaleTail),
                    kind.followsVotes || !post.wasIndexed
                else { continue }
                let boundary = index.headBoundary
                let own = pass.slots.key(kind, post, at: post.newScore)
                let isBehind = !boundary.covers(own) && !(post.wasIndexed && boundary.covers(old))
                precondition(
                    isBehind || post.oldScore == post.newScore,
                    "A post of the stale tail is in a head."
                )
            }
        }
    }
}
