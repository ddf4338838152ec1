import CFeedProto

extension GetPostRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__GetPostRequest>) {
        unsafe feed__v1__get_post_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__GetPostRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: message.pointee.id
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__GetPostRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
    }
}

extension BatchGetPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BatchGetPostsRequest>) {
        unsafe feed__v1__batch_get_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BatchGetPostsRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            ids: reader.numbers(message.pointee.ids, count: message.pointee.n_ids)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BatchGetPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_ids = ids.count
        unsafe message.pointee.ids = arena.numbers(ids)
    }
}

extension BatchGetPostsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BatchGetPostsResponse>) {
        unsafe feed__v1__batch_get_posts_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BatchGetPostsResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            posts: reader.messages(
                message.pointee.posts,
                count: message.pointee.n_posts,
                "posts"
            ),
            missingIDs: reader.numbers(
                message.pointee.missing_ids,
                count: message.pointee.n_missing_ids
            )
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BatchGetPostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
        unsafe message.pointee.n_missing_ids = missingIDs.count
        unsafe message.pointee.missing_ids = arena.numbers(missingIDs)
    }
}
