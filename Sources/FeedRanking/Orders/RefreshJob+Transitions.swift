/// The transitions of the state machine. A transition that a state does not have traps.
extension RefreshJob {
    /// Begins a job with its first list; traps unless the job is idle.
    ///
    /// - Parameter posts: At least one post, in the order of feeds, and of slots in a feed.
    package mutating func begin(_ posts: consuming Slab<StalePost>) {
        guard isIdle else { preconditionFailure("A refresh job begins while one is under way.") }
        precondition(posts.count > 0, "A refresh job begins without posts.")
        let members = Members(posts)
        let list = members.firstList(from: 0)
        enter(.waiting(Waiting(members: members, list: list)))
    }

    /// Splits the current list; traps unless the list waits.
    ///
    /// - Parameters:
    ///   - index: The keys of the list, which the merge owns from now on.
    ///   - keys: The new keys of the list's members, sorted.
    package mutating func split(_ index: RankedIndex, merging keys: consuming Slab<RankKey>) {
        switch takeState() {
        case .idle:
            preconditionFailure("A list is split while no refresh job is under way.")
        case .merging:
            preconditionFailure("A list that is split is split again.")
        case .waiting(let state):
            let merge = ListMerge(back: index, keys: keys)
            enter(.merging(Merging(members: state.members, list: state.list, merge: merge)))
        }
    }

    /// Moves to the next list, and ends the job behind the last list.
    ///
    /// Traps while the job is idle, and while keys of a split list are not merged.
    package mutating func leaveList() {
        switch takeState() {
        case .idle:
            preconditionFailure("A list is left while no refresh job is under way.")
        case .waiting(let state):
            enter(Self.behind(state.list, state.members))
        case .merging(let state):
            let isComplete = state.merge.isComplete
            precondition(isComplete, "A list is left before all of its keys are merged.")
            enter(Self.behind(state.list, state.members))
        }
    }

    /// Removes a member; traps where the post is not in the job.
    package mutating func remove(_ slot: UInt32) {
        precondition(hasMember(slot), "A post leaves a refresh job that does not have it.")
        switch takeState() {
        case .idle:
            enter(.idle)
        case .waiting(var state):
            state.members.slots.remove(slot)
            enter(.waiting(state))
        case .merging(var state):
            state.members.slots.remove(slot)
            enter(.merging(state))
        }
    }

    /// Merges leaves of the split list into its index until so many keys are merged, or all.
    ///
    /// Traps unless the current list is split. O(keys merged).
    ///
    /// - Returns: Whether all keys of the list are merged.
    package mutating func merge(
        _ limit: Int,
        into index: inout RankedIndex,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> Bool {
        switch takeState() {
        case .idle:
            preconditionFailure("Keys are merged while no refresh job is under way.")
        case .waiting:
            preconditionFailure("Keys of a list are merged before the list is split.")
        case .merging(var state):
            state.members.slots.reserve(posts.slotLimit)
            let dropsOldKeys = state.list.kind.followsScore
            state.merge.merge(
                limit,
                state.members.slots,
                dropsOldKeys,
                into: &index,
                &pool,
                posts
            )
            let isComplete = state.merge.isComplete
            enter(.merging(state))
            return isComplete
        }
    }

    /// Inserts a key behind the merged part of the split list; traps unless the list is split.
    package mutating func insertBehindMerged(
        _ key: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) {
        switch takeState() {
        case .idle:
            preconditionFailure("A key is inserted while no refresh job is under way.")
        case .waiting:
            preconditionFailure("A key is inserted behind a list that is not split.")
        case .merging(var state):
            state.merge.back.insert(key, &pool, posts)
            enter(.merging(state))
        }
    }

    /// Removes a key behind the merged part of the split list; returns whether it was there.
    ///
    /// Traps unless the list is split.
    package mutating func removeBehindMerged(
        _ key: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> Bool {
        switch takeState() {
        case .idle:
            preconditionFailure("A key is removed while no refresh job is under way.")
        case .waiting:
            preconditionFailure("A key is removed behind a list that is not split.")
        case .merging(var state):
            let wasThere = state.merge.back.remove(key, &pool, posts)
            enter(.merging(state))
            return wasThere
        }
    }

    /// The job behind a list: before the next list, or idle.
    private static func behind(_ list: List, _ members: consuming Members) -> State {
        var next = list
        if let kind = IndexKind(rawValue: list.kind.rawValue + 1) {
            next.kind = kind
        } else if list.feed == nil {
            return .idle
        } else if list.places.upperBound < members.posts.count {
            next = members.firstList(from: list.places.upperBound)
        } else {
            next = List(feed: nil, kind: .top, places: 0..<members.posts.count)
        }
        return .waiting(Waiting(members: members, list: next))
    }
}
