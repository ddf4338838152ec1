extension StateHash {
    /// The hash of a store, as `FeedStore.stateHash` describes it.
    init(of store: FeedStore) {
        var hash = StateHash(seed: 1)
        for policy in store.feedTable.policies() { hash.add(policy) }
        let devices = store.voters.devices()
        var sum: UInt64 = 0
        for device in devices {
            if let device { sum &+= StateHash(device).value }
        }
        hash.add(sum)
        var postSum: UInt64 = 0
        var ballotSum: UInt64 = 0
        for number in 0..<store.stripes.count {
            store.stripes.withStripe(number) { stripe in
                stripe.posts.forEachSlot { slot in
                    postSum &+= stripe.posts[slot].stateHash(stripe.slots.id(slot))
                }
                stripe.ballots.forEach(stripe.posts) { slot, voter, direction in
                    let number = Int(voter.rawValue)
                    let device = number < devices.count ? devices[number] : nil
                    // A voter whose number no device has is identified by the number.
                    var hash = StateHash(device ?? Device16(high: .max, low: UInt64(number)))
                    hash.add(stripe.slots.id(slot).rawValue)
                    hash.add(UInt64(direction.rawValue))
                    ballotSum &+= hash.value
                }
            }
        }
        hash.add(postSum)
        hash.add(ballotSum)
        self = hash
    }

    private init(_ device: Device16) {
        self.init(seed: 2)
        add(device.high)
        add(device.low)
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
        hash.add(risingKey)
        content.add(to: &hash)
        return hash.value
    }
}
