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
            id: message.pointee.id,
            revision: message.pointee.revision
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__DeletePostRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
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
            id: message.pointee.id,
            order: Order(message.pointee.order)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__GetPostRankRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
        unsafe message.pointee.order = order.cValue()
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
