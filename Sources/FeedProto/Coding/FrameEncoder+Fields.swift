import CFeedProto

// Answers without an intermediate String, for a program that keeps its texts as bytes.
extension FrameEncoder {
    /// Appends an answer with one post whose texts lie in `texts`.
    public mutating func append(
        post: PostFields,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        defer { arena.reset() }
        let frame = unsafe answer(id: id, revision: revision)
        try unsafe texts.withUnsafeBufferPointer { texts throws(FrameError) in
            let message = unsafe arena.empty(feed__v1__post__init)
            unsafe post.write(to: message, arena, texts)
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_POST
            unsafe frame.pointee.post = message
            try unsafe append(frame, outsideByteCount: post.textByteCount)
        }
    }

    /// Appends a page of posts whose texts lie in `texts`.
    public mutating func append(
        page: ListPostsFields,
        posts: Span<PostFields>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        defer { arena.reset() }
        let frame = unsafe answer(id: id, revision: revision)
        try unsafe texts.withUnsafeBufferPointer { texts throws(FrameError) in
            let message = unsafe arena.empty(feed__v1__list_posts_response__init)
            unsafe message.pointee.n_posts = posts.count
            unsafe message.pointee.posts = arena.posts(posts, texts)
            unsafe message.pointee.next_page_token = texts.data(page.nextPageToken)
            unsafe message.pointee.previous_page_token = texts.data(page.previousPageToken)
            unsafe message.pointee.refresh_token = texts.data(page.refreshToken)
            unsafe message.pointee.first_rank = page.firstRank
            unsafe message.pointee.total_size = page.totalSize
            unsafe message.pointee.newer_count = page.newerCount
            unsafe message.pointee.consistency = page.consistency.cValue()
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_LIST_POSTS
            unsafe frame.pointee.list_posts = message
            let tokens =
                Int(page.nextPageToken.byteCount) + Int(page.previousPageToken.byteCount)
                + Int(page.refreshToken.byteCount)
            try unsafe append(frame, outsideByteCount: tokens + textByteCount(of: posts))
        }
    }

    /// Appends a page of changes, with posts whose texts lie in `texts`.
    public mutating func append(
        changes: SyncPostsFields,
        posts: Span<PostFields>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        defer { arena.reset() }
        let frame = unsafe answer(id: id, revision: revision)
        try unsafe texts.withUnsafeBufferPointer { texts throws(FrameError) in
            let message = unsafe arena.empty(feed__v1__sync_posts_response__init)
            unsafe message.pointee.n_posts = posts.count
            unsafe message.pointee.posts = arena.posts(posts, texts)
            unsafe message.pointee.next_revision = changes.nextRevision
            unsafe message.pointee.more = changes.hasMore ? 1 : 0
            unsafe message.pointee.reset = changes.isReset ? 1 : 0
            unsafe message.pointee.copy_revision = changes.copyRevision
            unsafe message.pointee.instance_id = changes.instanceID
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_SYNC_POSTS
            unsafe frame.pointee.sync_posts = message
            try unsafe append(frame, outsideByteCount: textByteCount(of: posts))
        }
    }

    /// Appends the answer to a batch get, with posts whose texts lie in `texts`.
    public mutating func append(
        batch posts: Span<PostFields>,
        missingIDs: [UInt64],
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        defer { arena.reset() }
        let frame = unsafe answer(id: id, revision: revision)
        try unsafe texts.withUnsafeBufferPointer { texts throws(FrameError) in
            let message = unsafe arena.empty(feed__v1__batch_get_posts_response__init)
            unsafe message.pointee.n_posts = posts.count
            unsafe message.pointee.posts = arena.posts(posts, texts)
            unsafe message.pointee.n_missing_ids = missingIDs.count
            unsafe message.pointee.missing_ids = arena.numbers(missingIDs)
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_BATCH_GET_POSTS
            unsafe frame.pointee.batch_get_posts = message
            try unsafe append(frame, outsideByteCount: textByteCount(of: posts))
        }
    }

    /// An answer without a body.
    func answer(
        id: UInt64,
        revision: UInt64
    ) -> UnsafeMutablePointer<Feed__V1__ServerFrame> {
        let frame = unsafe arena.empty(feed__v1__server_frame__init)
        unsafe frame.pointee.id = id
        unsafe frame.pointee.revision = revision
        return unsafe frame
    }

    /// The bytes of the texts of posts, which lie outside of the arena.
    func textByteCount(of posts: Span<PostFields>) -> Int {
        var byteCount = 0
        for index in posts.indices { byteCount += posts[index].textByteCount }
        return byteCount
    }
}
