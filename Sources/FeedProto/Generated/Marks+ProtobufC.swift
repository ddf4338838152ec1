// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension MarkPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MarkPostsRequest>) {
        unsafe feed__v1__mark_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MarkPostsRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            mark: Mark(message.pointee.mark),
            postIDs: reader.numbers(message.pointee.post_ids, count: message.pointee.n_post_ids),
            throughPostID: PostID(rawValue: message.pointee.through_post_id)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MarkPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.mark = mark.cValue()
        unsafe message.pointee.n_post_ids = postIDs.count
        unsafe message.pointee.post_ids = arena.numbers(postIDs)
        unsafe message.pointee.through_post_id = throughPostID.rawValue
    }
}

extension MarkPostsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MarkPostsResponse>) {
        unsafe feed__v1__mark_posts_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MarkPostsResponse>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            unreadCount: message.pointee.unread_count
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MarkPostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.unread_count = unreadCount
    }
}

#endif
