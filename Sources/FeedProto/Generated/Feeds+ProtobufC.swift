// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension Feed: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__Feed>) {
        unsafe feed__v1__feed__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__Feed>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            name: reader.text(message.pointee.name, "name"),
            defaultOrder: Order(message.pointee.default_order),
            voteMode: VoteMode(message.pointee.vote_mode),
            maximumTitleLength: message.pointee.max_title_length,
            minimumTextLength: message.pointee.min_text_length,
            maximumTextLength: message.pointee.max_text_length,
            postCount: message.pointee.post_count,
            unreadCount: message.pointee.unread_count,
            voters: Voters(message.pointee.voters)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__Feed>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.name = arena.text(name)
        unsafe message.pointee.default_order = defaultOrder.cValue()
        unsafe message.pointee.vote_mode = voteMode.cValue()
        unsafe message.pointee.max_title_length = maximumTitleLength
        unsafe message.pointee.min_text_length = minimumTextLength
        unsafe message.pointee.max_text_length = maximumTextLength
        unsafe message.pointee.post_count = postCount
        unsafe message.pointee.unread_count = unreadCount
        unsafe message.pointee.voters = voters.cValue()
    }
}

extension ListFeedsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ListFeedsResponse>) {
        unsafe feed__v1__list_feeds_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ListFeedsResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feeds: reader.messages(message.pointee.feeds, count: message.pointee.n_feeds, "feeds")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ListFeedsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_feeds = feeds.count
        unsafe message.pointee.feeds = arena.messages(feeds)
    }
}

extension CreateFeedRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CreateFeedRequest>) {
        unsafe feed__v1__create_feed_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CreateFeedRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.message(message.pointee.feed, "feed")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CreateFeedRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.message(feed)
    }
}

#endif
