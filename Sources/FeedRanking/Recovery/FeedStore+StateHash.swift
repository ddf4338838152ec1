extension FeedStore {
    /// A hash of all state that `restore` puts back; stores that answer alike have equal hashes.
    ///
    /// No thread may write meanwhile. The hash covers the feeds and their rules, each post with
    /// every field, the ballots by device, and the devices. It does not cover the counters, the
    /// numbers of voters, or the indexed scores. The hashes of posts, ballots and devices are added
    /// up, so neither their order nor the count of stripes matters. O(feeds + posts + ballots +
    /// voters).
    package func stateHash() -> UInt64 {
        var hash = StateHash(seed: 1)
        for policy in feedTable.policies() { policy.add(to: &hash) }
        let devices = voters.devices()
        var sum: UInt64 = 0
        for device in devices {
            if let device { sum &+= Self.hash(device).value }
        }
        hash.add(sum)
        var postSum: UInt64 = 0
        var ballotSum: UInt64 = 0
        for number in 0..<stripes.count {
            stripes.withStripe(number) { stripe in
                stripe.posts.forEachSlot { slot in
                    postSum &+= stripe.posts[slot].stateHash(stripe.slots.id(slot))
                }
                stripe.ballots.forEach(stripe.posts) { slot, voter, direction in
                    let number = Int(voter.rawValue)
                    let device = number < devices.count ? devices[number] : nil
                    // A voter whose number no device has is identified by the number.
                    var hash = Self.hash(device ?? Device16(high: .max, low: UInt64(number)))
                    hash.add(stripe.slots.id(slot).rawValue)
                    hash.add(UInt64(direction.rawValue))
                    ballotSum &+= hash.value
                }
            }
        }
        hash.add(postSum)
        hash.add(ballotSum)
        return hash.value
    }

    /// Calls the body with each live post, in no order; O(posts), while a stripe is locked.
    ///
    /// The body must not call the store.
    package func forEachPost(_ body: (PostState) -> Void) {
        for number in 0..<stripes.count {
            stripes.withStripe(number) { stripe in
                stripe.posts.forEachSlot { slot in body(stripe.state(slot)) }
            }
        }
    }

    private static func hash(_ device: Device16) -> StateHash {
        var hash = StateHash(seed: 2)
        hash.add(device.high)
        hash.add(device.low)
        return hash
    }
}

extension FeedPolicy {
    fileprivate func add(to hash: inout StateHash) {
        hash.add(name)
        hash.add(UInt64(defaultOrder.rawValue))
        hash.add(UInt64(voteMode.rawValue))
        hash.add(UInt64(bitPattern: Int64(maximumTitleCharacterCount)))
        hash.add(UInt64(bitPattern: Int64(minimumTextCharacterCount)))
        hash.add(UInt64(bitPattern: Int64(maximumTextCharacterCount)))
    }
}

extension PostTable {
    /// Calls the body with the slot of each live post.
    fileprivate func forEachSlot(_ body: (UInt32) -> Void) {
        var next = nextSlot(from: 0)
        while let found = next {
            let slot = UInt32(found)
            if contains(slot) { body(slot) }
            next = nextSlot(from: found + 1)
        }
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
        content.add(to: &hash)
        return hash.value
    }
}
