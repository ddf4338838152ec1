import FeedRanking

/// The fields of voters and of what viewers have marked.
extension LogEntryFields {
    mutating func voterID(_ bytes: borrowing LogBytes) throws(LogEntryError) -> VoterID {
        VoterID(rawValue: try varint(as: UInt32.self, bytes))
    }

    mutating func voter(_ bytes: borrowing LogBytes) throws(LogEntryError) -> LogEntry {
        let id = try voterID(bytes)
        let high = try fixed(byteCount: 8, bytes)
        let low = try fixed(byteCount: 8, bytes)
        return .voter(id, device: Device16(high: high, low: low))
    }

    mutating func userVoter(_ bytes: borrowing LogBytes) throws(LogEntryError) -> LogEntry {
        .userVoter(try voterID(bytes), userID: try varint(bytes))
    }

    mutating func marks(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> PostMarks {
        let viewer = try voterID(bytes)
        let post = PostID(rawValue: try varint(bytes))
        let marks = MarkSet(rawValue: try byte(bytes))
        guard marks.isPossible else { throw badValue }
        return PostMarks(viewer: viewer, post: post, marks: marks, revision: revision)
    }

    mutating func markThrough(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> MarkThrough {
        let viewer = try voterID(bytes)
        let feed = try varint(bytes)
        guard feed <= UInt64(UInt32.max) + 1 else { throw badValue }
        guard let mark = Mark(rawValue: try byte(bytes)) else { throw badValue }
        return MarkThrough(
            viewer: viewer,
            feed: feed == 0 ? nil : FeedID(rawValue: UInt32(feed - 1)),
            mark: mark,
            createTimeMilliseconds: Int64(bitPattern: try varint(bytes)),
            post: PostID(rawValue: try varint(bytes)),
            place: try byte(bytes),
            revision: revision
        )
    }
}
