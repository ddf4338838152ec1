// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension CreatePostRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CreatePostRequest>) {
        unsafe feed__v1__create_post_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CreatePostRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            post: reader.message(message.pointee.post, "post")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CreatePostRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.post = arena.message(post)
    }
}

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
            posts: reader.messages(message.pointee.posts, count: message.pointee.n_posts, "posts")
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

extension GetPostRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__GetPostRequest>) {
        unsafe feed__v1__get_post_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__GetPostRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: PostID(rawValue: message.pointee.id)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__GetPostRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id.rawValue
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
            posts: reader.messages(message.pointee.posts, count: message.pointee.n_posts, "posts"),
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

extension UpdatePostRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__UpdatePostRequest>) {
        unsafe feed__v1__update_post_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__UpdatePostRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            post: reader.message(message.pointee.post, "post"),
            updateMask: reader.numbers(
                message.pointee.update_mask,
                count: message.pointee.n_update_mask
            ).map { PostField($0) }
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__UpdatePostRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.post = arena.message(post)
        unsafe message.pointee.n_update_mask = updateMask.count
        unsafe message.pointee.update_mask = arena.numbers(updateMask.map { $0.cValue() })
    }
}

extension DeletePostRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__DeletePostRequest>) {
        unsafe feed__v1__delete_post_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__DeletePostRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: PostID(rawValue: message.pointee.id),
            revision: message.pointee.revision
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__DeletePostRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id.rawValue
        unsafe message.pointee.revision = revision
    }
}

extension GetPostRankRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__GetPostRankRequest>) {
        unsafe feed__v1__get_post_rank_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__GetPostRankRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: PostID(rawValue: message.pointee.id),
            order: Order(message.pointee.order),
            window: Window(message.pointee.window)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__GetPostRankRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id.rawValue
        unsafe message.pointee.order = order.cValue()
        unsafe message.pointee.window = window.cValue()
    }
}

extension PostRank: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__PostRank>) {
        unsafe feed__v1__post_rank__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__PostRank>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            rank: message.pointee.rank,
            totalSize: message.pointee.total_size
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__PostRank>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.rank = rank
        unsafe message.pointee.total_size = totalSize
    }
}

#endif
