// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension WatchPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__WatchPostsRequest>) {
        unsafe feed__v1__watch_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__WatchPostsRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            order: Order(message.pointee.order),
            window: Window(message.pointee.window),
            topCount: message.pointee.top_count,
            postIDs: reader.numbers(message.pointee.post_ids, count: message.pointee.n_post_ids),
            minimumIntervalMilliseconds: message.pointee.min_interval_ms,
            sinceRevision: message.pointee.since_revision,
            authorID: UserID(rawValue: message.pointee.author_id),
            unreadOnly: message.pointee.unread_only != 0,
            excludesDismissed: message.pointee.exclude_dismissed != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__WatchPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.order = order.cValue()
        unsafe message.pointee.window = window.cValue()
        unsafe message.pointee.top_count = topCount
        unsafe message.pointee.n_post_ids = postIDs.count
        unsafe message.pointee.post_ids = arena.numbers(postIDs)
        unsafe message.pointee.min_interval_ms = minimumIntervalMilliseconds
        unsafe message.pointee.since_revision = sinceRevision
        unsafe message.pointee.author_id = authorID.rawValue
        unsafe message.pointee.unread_only = unreadOnly ? 1 : 0
        unsafe message.pointee.exclude_dismissed = excludesDismissed ? 1 : 0
    }
}

extension WatchPostsEvent: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__WatchPostsEvent>) {
        unsafe feed__v1__watch_posts_event__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__WatchPostsEvent>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            changed: reader.messages(
                message.pointee.changed,
                count: message.pointee.n_changed,
                "changed"
            ),
            ranking: reader.numbers(message.pointee.ranking, count: message.pointee.n_ranking),
            removedIDs: reader.numbers(
                message.pointee.removed_ids,
                count: message.pointee.n_removed_ids
            ),
            newPostCount: message.pointee.new_post_count,
            isReset: message.pointee.reset != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__WatchPostsEvent>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_changed = changed.count
        unsafe message.pointee.changed = arena.messages(changed)
        unsafe message.pointee.n_ranking = ranking.count
        unsafe message.pointee.ranking = arena.numbers(ranking)
        unsafe message.pointee.n_removed_ids = removedIDs.count
        unsafe message.pointee.removed_ids = arena.numbers(removedIDs)
        unsafe message.pointee.new_post_count = newPostCount
        unsafe message.pointee.reset = isReset ? 1 : 0
    }
}

#endif
