// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

extension ListPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ListPostsRequest>) {
        unsafe feed__v1__list_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ListPostsRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            order: Order(message.pointee.order),
            pageSize: message.pointee.page_size,
            pageToken: reader.bytes(message.pointee.page_token),
            start: Start(message)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ListPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.order = order.cValue()
        unsafe message.pointee.page_size = pageSize
        unsafe message.pointee.page_token = arena.bytes(pageToken)
        switch start {
        case .aroundPostID(let value):
            unsafe message.pointee.start_case = FEED__V1__LIST_POSTS_REQUEST__START_AROUND_POST_ID
            unsafe message.pointee.around_post_id = value
        case .rank(let value):
            unsafe message.pointee.start_case = FEED__V1__LIST_POSTS_REQUEST__START_START_RANK
            unsafe message.pointee.start_rank = value
        case nil:
            break
        }
    }
}

extension ListPostsRequest.Start {
    /// The set member of the oneof; nil where there is none.
    fileprivate init?(_ message: UnsafeMutablePointer<Feed__V1__ListPostsRequest>) {
        switch unsafe message.pointee.start_case {
        case FEED__V1__LIST_POSTS_REQUEST__START_AROUND_POST_ID:
            self = unsafe .aroundPostID(message.pointee.around_post_id)
        case FEED__V1__LIST_POSTS_REQUEST__START_START_RANK:
            self = unsafe .rank(message.pointee.start_rank)
        default:
            return nil
        }
    }
}

extension ListPostsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ListPostsResponse>) {
        unsafe feed__v1__list_posts_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ListPostsResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            posts: reader.messages(message.pointee.posts, count: message.pointee.n_posts, "posts"),
            nextPageToken: reader.bytes(message.pointee.next_page_token),
            previousPageToken: reader.bytes(message.pointee.previous_page_token),
            firstRank: message.pointee.first_rank,
            totalSize: message.pointee.total_size
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ListPostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
        unsafe message.pointee.next_page_token = arena.bytes(nextPageToken)
        unsafe message.pointee.previous_page_token = arena.bytes(previousPageToken)
        unsafe message.pointee.first_rank = firstRank
        unsafe message.pointee.total_size = totalSize
    }
}
