extension StateHash {
    /// The hash of a store, as `FeedStore.stateHash` describes it.
    init(of store: FeedStore) {
        var hash = StateHash(seed: 1)
        for policy in store.feedTable.policies() { hash.add(policy) }
        let keys = store.voters.keys()
        hash.add(keys.values.reduce(0) { $0 &+ StateHash($1).value })
        var postSum: UInt64 = 0
        var ballotSum: UInt64 = 0
        for number in 0..<store.stripes.count {
            store.stripes.withStripe(number) { stripe in
                stripe.posts.forEachSlot { slot in
                    postSum &+= stripe.posts[slot].stateHash(stripe.slots.id(slot))
                }
                stripe.ballots.forEach(stripe.posts) { slot, voter, direction in
                    var hash = StateHash(keys, voter)
                    hash.add(stripe.slots.id(slot).rawValue)
                    hash.add(UInt64(direction.rawValue))
                    ballotSum &+= hash.value
                }
            }
        }
        hash.add(postSum)
        hash.add(ballotSum)
        var markSum: UInt64 = 0
        store.marks.forEachViewer { viewer, marks in
            markSum &+= marks.stateHash(StateHash(keys, viewer))
        }
        // A state without marks has the hash of versions without them.
        if markSum != 0 { hash.add(markSum) }
        self = hash
    }

    /// A voter, who is identified by the number where nobody has it.
    private init(_ keys: [VoterID: VoterKey], _ voter: VoterID) {
        let number = Device16(high: .max, low: UInt64(voter.rawValue))
        self.init(keys[voter] ?? .device(number))
    }

    private init(_ key: VoterKey) {
        switch key {
        case .device(let device):
            self.init(seed: 2)
            add(device.high)
            add(device.low)
        case .user(let user):
            self.init(seed: 4)
            add(user)
        }
    }

    private mutating func add(_ policy: FeedPolicy) {
        add(policy.name)
        add(UInt64(policy.defaultOrder.rawValue))
        add(UInt64(policy.voteMode.rawValue))
        add(UInt64(bitPattern: Int64(policy.maximumTitleCharacterCount)))
        add(UInt64(bitPattern: Int64(policy.minimumTextCharacterCount)))
        add(UInt64(bitPattern: Int64(policy.maximumTextCharacterCount)))
    }
}

extension PostRecord {
    /// The hash of a post with every field.
    fileprivate func stateHash(_ id: PostID) -> UInt64 {
        var hash = StateHash(seed: 3)
        hash.add(id.rawValue)
        hash.add(upvoteCount)
        hash.add(downvoteCount)
        hash.add(revision)
        hash.add(UInt64(feed.rawValue))
        hash.add(flags.contains(.keepsBallots) ? 1 : 0)
        hash.add(UInt64(bitPattern: createTimeMilliseconds))
        // Posts without a vote that is up have the hash of versions without the sum.
        if !risingSum.isInitial { hash.add(risingSum.rawValue) }
        content.add(to: &hash)
        return hash.value
    }
}

extension ViewerMarks {
    /// The sum of the hashes of all marks that say something, each begun with the viewer's.
    fileprivate func stateHash(_ viewer: StateHash) -> UInt64 {
        var sum: UInt64 = 0
        for (id, onPost) in posts where !onPost.marks.isEmpty {
            var hash = viewer
            hash.add(id.rawValue)
            hash.add(UInt64(onPost.marks.rawValue))
            hash.add(onPost.revision)
            sum &+= hash.value
        }
        for steps in steps.values {
            for step in steps.reading.standing + steps.dismissal.standing {
                var hash = viewer
                hash.add(step.feed.map { UInt64($0.rawValue) + 1 } ?? 0)
                hash.add(UInt64(step.mark.rawValue))
                hash.add(UInt64(bitPattern: step.createTimeMilliseconds))
                hash.add(step.post.rawValue)
                hash.add(step.revision)
                sum &+= hash.value
            }
        }
        return sum
    }
}
