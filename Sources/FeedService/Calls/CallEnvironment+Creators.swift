internal import FeedProto
internal import FeedRanking

/// Who may create posts, and how much: in an hour, and in all.
extension CallEnvironment {
    /// Refuses a caller who may not create posts here.
    func requireCreator(_ caller: borrowing Caller) throws(Status) {
        switch (context.limits.posts.creators, caller.role) {
        case (.anyone, _), (_, .service), (_, .local), (.users, .user): return
        case (.users, _): throw .usersCreatePosts
        case (.services, _): throw .serviceOnly
        }
    }

    /// Counts a new post, or the texts of an edit, for the limits of an hour and of all memory.
    ///
    /// - Parameters:
    ///   - byteCount: The bytes of the texts.
    ///   - isNew: Whether it is a post, and no edit.
    ///   - caller: The caller.
    /// - Throws: The refusal.
    func admitPost(
        textByteCount byteCount: Int,
        isNew: Bool,
        by caller: borrowing Caller
    ) throws(Status) {
        guard isNew || byteCount > 0 else { return }
        // An edit may make a post smaller, so it is refused only once the limit is passed.
        try requireRoom(for: isNew ? byteCount + RankingLimits.postOverheadByteCount : 0)
        guard caller.serviceKey?.role != .service, caller.isLimited else { return }
        let excess = context.posts.admit(
            postCount: isNew ? 1 : 0,
            byteCount: byteCount,
            by: caller.creators
        )
        if let excess { throw .tooManyPosts(excess) }
    }

    /// Refuses what would let the memory of all posts pass its limit.
    ///
    /// A start loads a state that is over the limit.
    func requireRoom(for byteCount: Int) throws(Status) {
        let limit = context.limits.posts.memoryByteCount
        let taken = store.postByteCount
        guard limit > 0, taken + byteCount > limit else { return }
        context.posts.countRefusal()
        throw .noRoomForPosts(byteCount: taken, limit: limit)
    }

    /// Notes the host and the device of a new post; not those of a service, which are its own.
    func noteOrigin(of post: PostRow, by caller: borrowing Caller) {
        guard caller.serviceKey?.role != .service else { return }
        context.origins.note(
            post.id,
            PostOrigins.Origin(
                host: ClientIdentity(caller.host),
                device: caller.device.map { Device16(high: $0.high, low: $0.low) }
            ),
            at: post.createTimeMilliseconds
        )
    }
}

extension Caller {
    /// Those whose limits a post of the caller counts for: its host, and its user or else its device.
    fileprivate var creators: [ClientIdentity] {
        let host = ClientIdentity(host)
        if let requestUserID { return [host, .user(requestUserID)] }
        return device.map { [host, .device($0.high, $0.low)] } ?? [host]
    }
}

extension PostChanges {
    /// The bytes of all texts that change.
    var textByteCount: Int {
        [title, text, linkURL, thumbnailURL, imageURL].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }
}
