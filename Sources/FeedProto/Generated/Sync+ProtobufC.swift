// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension SyncPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__SyncPostsRequest>) {
        unsafe feed__v1__sync_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__SyncPostsRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            sinceRevision: message.pointee.since_revision,
            pageSize: message.pointee.page_size,
            copyRevision: message.pointee.copy_revision,
            instanceID: message.pointee.instance_id,
            marks: reader.message(message.pointee.marks, "marks")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__SyncPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.since_revision = sinceRevision
        unsafe message.pointee.page_size = pageSize
        unsafe message.pointee.copy_revision = copyRevision
        unsafe message.pointee.instance_id = instanceID
        unsafe message.pointee.marks = arena.message(marks)
    }
}

extension SyncPostsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__SyncPostsResponse>) {
        unsafe feed__v1__sync_posts_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__SyncPostsResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            posts: reader.messages(message.pointee.posts, count: message.pointee.n_posts, "posts"),
            nextRevision: message.pointee.next_revision,
            hasMore: message.pointee.more != 0,
            isReset: message.pointee.reset != 0,
            copyRevision: message.pointee.copy_revision,
            instanceID: message.pointee.instance_id,
            marks: reader.message(message.pointee.marks, "marks")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__SyncPostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
        unsafe message.pointee.next_revision = nextRevision
        unsafe message.pointee.more = hasMore ? 1 : 0
        unsafe message.pointee.reset = isReset ? 1 : 0
        unsafe message.pointee.copy_revision = copyRevision
        unsafe message.pointee.instance_id = instanceID
        unsafe message.pointee.marks = arena.message(marks)
    }
}

extension MarkPosition: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MarkPosition>) {
        unsafe feed__v1__mark_position__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MarkPosition>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            revision: message.pointee.revision,
            copyRevision: message.pointee.copy_revision
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MarkPosition>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.revision = revision
        unsafe message.pointee.copy_revision = copyRevision
    }
}

extension MarkChanges: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MarkChanges>) {
        unsafe feed__v1__mark_changes__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MarkChanges>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            next: reader.message(message.pointee.next, "next"),
            isReset: message.pointee.reset != 0,
            through: reader.messages(
                message.pointee.through,
                count: message.pointee.n_through,
                "through"
            ),
            posts: reader.messages(message.pointee.posts, count: message.pointee.n_posts, "posts")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MarkChanges>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.next = arena.message(next)
        unsafe message.pointee.reset = isReset ? 1 : 0
        unsafe message.pointee.n_through = through.count
        unsafe message.pointee.through = arena.messages(through)
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
    }
}

extension MarkedThrough: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MarkedThrough>) {
        unsafe feed__v1__marked_through__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MarkedThrough>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            mark: Mark(message.pointee.mark),
            createTimeMilliseconds: message.pointee.create_time_ms,
            postID: PostID(rawValue: message.pointee.post_id)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MarkedThrough>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.mark = mark.cValue()
        unsafe message.pointee.create_time_ms = createTimeMilliseconds
        unsafe message.pointee.post_id = postID.rawValue
    }
}

extension MarkedPost: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MarkedPost>) {
        unsafe feed__v1__marked_post__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MarkedPost>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: PostID(rawValue: message.pointee.id),
            isRead: message.pointee.read != 0,
            isDismissed: message.pointee.dismissed != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MarkedPost>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id.rawValue
        unsafe message.pointee.read = isRead ? 1 : 0
        unsafe message.pointee.dismissed = isDismissed ? 1 : 0
    }
}

#endif
