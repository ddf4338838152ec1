// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension Post: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__Post>) {
        unsafe feed__v1__post__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__Post>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            id: PostID(rawValue: message.pointee.id),
            feed: reader.text(message.pointee.feed, "feed"),
            author: reader.message(message.pointee.author, "author"),
            title: reader.text(message.pointee.title, "title"),
            text: reader.text(message.pointee.text, "text"),
            linkURL: reader.text(message.pointee.link_url, "link_url"),
            thumbnailURL: reader.text(message.pointee.thumbnail_url, "thumbnail_url"),
            imageURL: reader.text(message.pointee.image_url, "image_url"),
            score: message.pointee.score,
            upvoteCount: message.pointee.upvote_count,
            downvoteCount: message.pointee.downvote_count,
            commentCount: message.pointee.comment_count,
            createTimeMilliseconds: message.pointee.create_time_ms,
            updateTimeMilliseconds: message.pointee.update_time_ms,
            revision: message.pointee.revision,
            isDeleted: message.pointee.deleted != 0,
            viewer: reader.message(message.pointee.viewer, "viewer")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__Post>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id.rawValue
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.author = arena.message(author)
        unsafe message.pointee.title = arena.text(title)
        unsafe message.pointee.text = arena.text(text)
        unsafe message.pointee.link_url = arena.text(linkURL)
        unsafe message.pointee.thumbnail_url = arena.text(thumbnailURL)
        unsafe message.pointee.image_url = arena.text(imageURL)
        unsafe message.pointee.score = score
        unsafe message.pointee.upvote_count = upvoteCount
        unsafe message.pointee.downvote_count = downvoteCount
        unsafe message.pointee.comment_count = commentCount
        unsafe message.pointee.create_time_ms = createTimeMilliseconds
        unsafe message.pointee.update_time_ms = updateTimeMilliseconds
        unsafe message.pointee.revision = revision
        unsafe message.pointee.deleted = isDeleted ? 1 : 0
        unsafe message.pointee.viewer = arena.message(viewer)
    }
}

extension User: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__User>) {
        unsafe feed__v1__user__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__User>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            id: UserID(rawValue: message.pointee.id),
            displayName: reader.text(message.pointee.display_name, "display_name"),
            createTimeMilliseconds: message.pointee.create_time_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__User>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id.rawValue
        unsafe message.pointee.display_name = arena.text(displayName)
        unsafe message.pointee.create_time_ms = createTimeMilliseconds
    }
}

extension Viewer: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__Viewer>) {
        unsafe feed__v1__viewer__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__Viewer>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            vote: VoteDirection(message.pointee.vote),
            isRead: message.pointee.read != 0,
            isDismissed: message.pointee.dismissed != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__Viewer>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.vote = vote.cValue()
        unsafe message.pointee.read = isRead ? 1 : 0
        unsafe message.pointee.dismissed = isDismissed ? 1 : 0
    }
}

#endif
