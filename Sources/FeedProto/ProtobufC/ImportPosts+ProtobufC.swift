import CFeedProto

extension ImportPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ImportPostsRequest>) {
        unsafe feed__v1__import_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ImportPostsRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            posts: reader.messages(
                message.pointee.posts,
                count: message.pointee.n_posts,
                "posts"
            )
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ImportPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
    }
}

extension ImportPostsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ImportPostsResponse>) {
        unsafe feed__v1__import_posts_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ImportPostsResponse>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            ids: reader.numbers(message.pointee.ids, count: message.pointee.n_ids)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ImportPostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_ids = ids.count
        unsafe message.pointee.ids = arena.numbers(ids)
    }
}
