// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

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
            window: Window(message.pointee.window),
            pageSize: message.pointee.page_size,
            pageToken: reader.bytes(message.pointee.page_token),
            start: Start(message),
            authorID: UserID(rawValue: message.pointee.author_id),
            unreadOnly: message.pointee.unread_only != 0,
            includesDismissed: message.pointee.include_dismissed != 0,
            consistency: Consistency(message.pointee.consistency)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ListPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.order = order.cValue()
        unsafe message.pointee.window = window.cValue()
        unsafe message.pointee.page_size = pageSize
        unsafe message.pointee.page_token = arena.bytes(pageToken)
        switch start {
        case .aroundPostID(let value):
            unsafe message.pointee.start_case = FEED__V1__LIST_POSTS_REQUEST__START_AROUND_POST_ID
            unsafe message.pointee.around_post_id = value.rawValue
        case .rank(let value):
            unsafe message.pointee.start_case = FEED__V1__LIST_POSTS_REQUEST__START_START_RANK
            unsafe message.pointee.start_rank = value
        case .newerThanPostID(let value):
            unsafe message.pointee.start_case =
                FEED__V1__LIST_POSTS_REQUEST__START_NEWER_THAN_POST_ID
            unsafe message.pointee.newer_than_post_id = value.rawValue
        case nil:
            break
        }
        unsafe message.pointee.author_id = authorID.rawValue
        unsafe message.pointee.unread_only = unreadOnly ? 1 : 0
        unsafe message.pointee.include_dismissed = includesDismissed ? 1 : 0
        unsafe message.pointee.consistency = consistency.cValue()
    }
}

extension ListPostsRequest.Start {
    /// The set member of the oneof; nil where there is none.
    fileprivate init?(_ message: UnsafeMutablePointer<Feed__V1__ListPostsRequest>) {
        switch unsafe message.pointee.start_case {
        case FEED__V1__LIST_POSTS_REQUEST__START_AROUND_POST_ID:
            self = unsafe .aroundPostID(PostID(rawValue: message.pointee.around_post_id))
        case FEED__V1__LIST_POSTS_REQUEST__START_START_RANK:
            self = unsafe .rank(message.pointee.start_rank)
        case FEED__V1__LIST_POSTS_REQUEST__START_NEWER_THAN_POST_ID:
            self = unsafe .newerThanPostID(PostID(rawValue: message.pointee.newer_than_post_id))
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
            refreshToken: reader.bytes(message.pointee.refresh_token),
            firstRank: message.pointee.first_rank,
            totalSize: message.pointee.total_size,
            newerCount: message.pointee.newer_count,
            consistency: Consistency(message.pointee.consistency)
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
        unsafe message.pointee.refresh_token = arena.bytes(refreshToken)
        unsafe message.pointee.first_rank = firstRank
        unsafe message.pointee.total_size = totalSize
        unsafe message.pointee.newer_count = newerCount
        unsafe message.pointee.consistency = consistency.cValue()
    }
}

#endif
