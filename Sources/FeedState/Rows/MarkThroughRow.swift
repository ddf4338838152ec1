import FeedRanking
import FeedSQLite

/// A row of `mark_throughs`: a viewer's mark on all posts up to one.
enum MarkThroughRow {
    static let upsert = "INSERT OR REPLACE INTO mark_throughs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    static let one = """
        SELECT viewer, feed, topic, place, mark, create_time, post, revision, sum
            FROM mark_throughs WHERE viewer = ? AND feed = ? AND topic = ? AND place = ?
        """
    static let all = """
        SELECT viewer, feed, topic, place, mark, create_time, post, revision, sum
            FROM mark_throughs ORDER BY viewer, feed, topic, place
        """

    /// The number of what a mark is about: 0 reading, 1 dismissal.
    static func number(of topic: MarkTopic) -> UInt8 {
        switch topic {
        case .reading: 0
        case .dismissal: 1
        }
    }

    /// Writes a mark's row; gives its checksum.
    static func write(_ mark: MarkThrough, with row: Statement) throws(SQLiteError) -> UInt64 {
        let sum = Self.sum(mark)
        try bindKey(of: mark, to: row)
        try row.bind(Int64(mark.mark.rawValue), at: 5)
        try row.bind(mark.createTimeMilliseconds, at: 6)
        try row.bind(mark.post.rawValue, at: 7)
        try row.bind(mark.revision, at: 8)
        try row.bind(sum, at: 9)
        try row.run()
        return sum
    }

    /// Binds what tells a mark from others to the first four parameters.
    static func bindKey(of mark: MarkThrough, to row: Statement) throws(SQLiteError) {
        try row.bind(Int64(mark.viewer.rawValue), at: 1)
        try row.bind(feedNumber(mark), at: 2)
        try row.bind(Int64(number(of: mark.mark.topic)), at: 3)
        try row.bind(Int64(mark.place), at: 4)
    }

    /// Reads the row that a statement stands at; gives its checksum too.
    static func read(_ row: Statement) throws(StateError) -> (MarkThrough, UInt64) {
        func name() -> String {
            "row (\(row.int64(0)), \(row.int64(1)), \(row.int64(2)), \(row.int64(3)))"
        }
        guard let viewer = UInt32(exactly: row.int64(0)),
            (0...Int64(UInt32.max) + 1).contains(row.int64(1)),
            let mark = UInt8(exactly: row.int64(4)).flatMap(Mark.init(rawValue:)),
            row.int64(2) == Int64(number(of: mark.topic)), let place = UInt8(exactly: row.int64(3))
        else { throw StateTable.markThroughs.damaged(name(), "a field has an impossible value") }
        let feed = row.int64(1)
        let found = MarkThrough(
            viewer: VoterID(rawValue: viewer),
            feed: feed == 0 ? nil : FeedID(rawValue: UInt32(feed - 1)),
            mark: mark,
            createTimeMilliseconds: row.int64(5),
            post: PostID(rawValue: row.uint64(6)),
            place: place,
            revision: row.uint64(7)
        )
        let sum = Self.sum(found)
        guard row.uint64(8) == sum else { throw StateTable.markThroughs.wrongSum(name()) }
        return (found, sum)
    }

    /// The feed's number plus 1, or 0 for all feeds.
    private static func feedNumber(_ mark: MarkThrough) -> UInt64 {
        mark.feed.map { UInt64($0.rawValue) + 1 } ?? 0
    }

    private static func sum(_ mark: MarkThrough) -> UInt64 {
        var sum = RowSum(.markThroughs)
        sum.add([
            UInt64(mark.viewer.rawValue), feedNumber(mark), UInt64(mark.mark.rawValue),
            UInt64(mark.place), UInt64(bits: mark.createTimeMilliseconds), mark.post.rawValue,
            mark.revision,
        ])
        return sum.value
    }
}
