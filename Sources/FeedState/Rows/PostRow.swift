import FeedRanking
import FeedSQLite

/// A row of `posts`: all of a post but its votes.
enum PostRow {
    static let upsert =
        "INSERT OR REPLACE INTO posts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    static let storedSum = "SELECT sum FROM posts WHERE id = ?"
    static let delete = "DELETE FROM posts WHERE id = ?"

    /// Reads all rows of a file of a format; no post of format 1 has an author with an account.
    static func all(format: Int64) -> String {
        """
        SELECT id, feed, keeps_ballots, create_time, update_time, edit_revision, comment_count,
            sum, author, title, text, link_url, thumbnail_url, image_url,
            \(format < 2 ? "0" : "author_id") FROM posts ORDER BY id
        """
    }

    /// Writes a post's row; gives its checksum.
    static func write(
        _ post: borrowing PostState,
        with row: Statement
    ) throws(SQLiteError) -> UInt64 {
        let sum = Self.sum(post)
        try row.bind(post.counts.id.rawValue, at: 1)
        try row.bind(Int64(post.feed.rawValue), at: 2)
        try row.bind(post.keepsBallots ? Int64(1) : 0, at: 3)
        try row.bind(post.createTimeMilliseconds, at: 4)
        try row.bind(post.updateTimeMilliseconds, at: 5)
        try row.bind(post.editRevision, at: 6)
        try row.bind(post.content.commentCount, at: 7)
        try row.bind(sum, at: 8)
        try row.bind(post.content.authorName, at: 9)
        try row.bind(post.content.title, at: 10)
        try row.bind(post.content.text, at: 11)
        try row.bind(post.content.linkURL, at: 12)
        try row.bind(post.content.thumbnailURL, at: 13)
        try row.bind(post.content.imageURL, at: 14)
        try row.bind(post.content.authorID, at: 15)
        try row.run()
        return sum
    }

    /// Reads the row that a statement stands at, with counts from elsewhere.
    static func read(
        _ row: Statement,
        _ counts: CountsChunk.Entry
    ) throws(StateError) -> (PostState, UInt64) {
        let id = row.uint64(0)
        let keepsBallots = row.uint64(2)
        guard let feed = UInt32(exactly: row.int64(1)), keepsBallots <= 1,
            let author = row.text(8), let title = row.text(9), let text = row.text(10),
            let link = row.text(11), let thumbnail = row.text(12), let image = row.text(13)
        else { throw StateTable.posts.damaged("row \(id)", "a field has an impossible value") }
        let post = PostState(
            counts: PostCounts(
                id: PostID(rawValue: id),
                upvoteCount: counts.upvoteCount,
                downvoteCount: counts.downvoteCount,
                revision: counts.revision,
                risingSum: RisingSum(rawValue: counts.risingSum)
            ),
            feed: FeedID(rawValue: feed),
            keepsBallots: keepsBallots == 1,
            createTimeMilliseconds: row.int64(3),
            updateTimeMilliseconds: row.int64(4),
            editRevision: row.uint64(5),
            content: PostContent(
                authorID: row.uint64(14),
                authorName: author,
                title: title,
                text: text,
                linkURL: link,
                thumbnailURL: thumbnail,
                imageURL: image,
                commentCount: row.uint64(6)
            )
        )
        let sum = Self.sum(post)
        guard row.uint64(7) == sum else { throw StateTable.posts.wrongSum("row \(id)") }
        return (post, sum)
    }

    private static func sum(_ post: borrowing PostState) -> UInt64 {
        var sum = RowSum(.posts)
        sum.add([
            post.counts.id.rawValue, UInt64(post.feed.rawValue), post.keepsBallots ? 1 : 0,
            UInt64(bits: post.createTimeMilliseconds), UInt64(bits: post.updateTimeMilliseconds),
            post.editRevision, post.content.commentCount,
        ])
        sum.add(post.content.authorName)
        sum.add(post.content.title)
        sum.add(post.content.text)
        sum.add(post.content.linkURL)
        sum.add(post.content.thumbnailURL)
        sum.add(post.content.imageURL)
        // Without an account the sum is what it was in format 1.
        if post.content.authorID > 0 { sum.add([post.content.authorID]) }
        return sum.value
    }
}
