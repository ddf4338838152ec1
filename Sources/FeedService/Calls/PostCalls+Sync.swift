internal import FeedProto
internal import FeedRanking

/// SyncPosts.
extension PostCalls {
    /// Reads the changes of a feed, or of all feeds, since a revision.
    mutating func syncPosts(
        _ request: SyncPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let revision = environment.store.revision
        let feed = request.feed.isEmpty ? nil : try environment.feed(named: request.feed)
        let size = try syncSize(request.pageSize)
        let voter = environment.voter(of: caller)
        let query = SyncQuery(
            feed: feed,
            position: position(of: request),
            size: size,
            byteLimit: environment.context.syncByteLimit(postCount: size),
            voter: voter
        )
        page.removeAll()
        let outcome = environment.store.sync(query, into: &page, allowance: &refreshAllowance)
        guard case .done(let changes) = outcome else { return .again }
        showMarks(of: voter)
        return .postsInPage(.changes(changes), revision: revision)
    }

    /// The place that the caller has come to; a new copy where it belongs to another instance.
    private func position(of request: SyncPostsRequest) -> SyncPosition {
        let isOfInstance =
            request.instanceID == 0 || request.instanceID == environment.context.instanceID
        guard isOfInstance else { return .start }
        return SyncPosition(
            revision: request.sinceRevision,
            copyRevision: request.copyRevision
        )
    }

    private func syncSize(_ size: Int32) throws(Status) -> Int {
        let limit = environment.context.syncPostLimit
        guard size >= 0 else {
            throw .invalid(
                .badPageSize,
                field: "page_size",
                "page_size is \(size); it is 0 for \(limit), or 1 to \(limit).",
                limit: UInt64(limit),
                actual: UInt64(bitPattern: Int64(size))
            )
        }
        return size == 0 ? limit : min(Int(size), limit)
    }
}
