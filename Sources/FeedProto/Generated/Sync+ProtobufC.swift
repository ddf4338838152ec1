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
            instanceID: message.pointee.instance_id
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
            instanceID: message.pointee.instance_id
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
    }
}

#endif
