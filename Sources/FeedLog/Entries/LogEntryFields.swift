import FeedAccounts
import FeedRanking

/// Reads the fields of one log entry out of a body, never beyond the end of its log's part.
struct LogEntryFields {
    /// The entry's first byte.
    let kind: UInt8
    /// Where the entry begins.
    let start: Int
    /// Where the next field begins.
    var next: Int
    /// Where the log's part ends.
    let end: Int

    /// The error of a field that has an impossible value.
    var badValue: LogEntryError { .badValue(kind: kind, offset: start) }

    /// The error of an entry that has no end.
    private var truncated: LogEntryError { .truncated(kind: kind, offset: start) }

    /// Reads one byte.
    @inline(__always)
    mutating func byte(_ bytes: borrowing LogBytes) throws(LogEntryError) -> UInt8 {
        guard next < end else { throw truncated }
        let byte = bytes[next]
        next += 1
        return byte
    }

    /// Reads a number, seven bits a byte, the lowest first.
    @inline(__always)
    mutating func varint(_ bytes: borrowing LogBytes) throws(LogEntryError) -> UInt64 {
        let first = try byte(bytes)
        if first < 0x80 { return UInt64(first) }
        return try longVarint(UInt64(first & 0x7F), bytes)
    }

    @inline(__always)
    private mutating func longVarint(
        _ first: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> UInt64 {
        var value = first
        var shift: UInt64 = 7
        while true {
            let byte = try byte(bytes)
            // The tenth byte has one bit left.
            if shift == 63, byte > 1 { throw badValue }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    /// Reads a number that has to fit into a smaller type.
    @inline(__always)
    mutating func varint<Value: FixedWidthInteger>(
        as type: Value.Type,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> Value {
        let value = try varint(bytes)
        guard let value = Value(exactly: value) else { throw badValue }
        return value
    }

    /// Reads a number of so many bytes, the lowest first.
    @inline(__always)
    mutating func fixed(
        byteCount: Int,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> UInt64 {
        guard end - next >= byteCount else { throw truncated }
        var value: UInt64 = 0
        for index in 0..<byteCount { value |= UInt64(bytes[next + index]) << UInt64(8 * index) }
        next += byteCount
        return value
    }

    /// Reads a text behind the count of its bytes.
    mutating func text(_ bytes: borrowing LogBytes) throws(LogEntryError) -> String {
        let count = try varint(bytes)
        guard count <= UInt64(end - next) else { throw truncated }
        let range = next..<next + Int(count)
        guard let text = bytes.text(range) else { throw badValue }
        next = range.upperBound
        return text
    }

    /// Reads the fields of the entry.
    @inline(__always)
    mutating func entry(
        revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> LogEntry {
        if kind == LogEntryKind.risingCounts {
            var counts = try counts(revision, bytes)
            counts.risingSum = try risingSum(bytes)
            return .counts(counts)
        }
        if kind == LogEntryKind.counts { return .counts(try counts(revision, bytes)) }
        if kind == LogEntryKind.risingBallot || kind == LogEntryKind.ballot {
            return try ballot(revision, bytes)
        }
        return try otherEntry(revision, bytes)
    }

    @inline(never)
    private mutating func otherEntry(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> LogEntry {
        switch kind {
        case LogEntryKind.post, LogEntryKind.authoredPost, LogEntryKind.risingPost:
            return .post(try post(revision, bytes))
        case LogEntryKind.deletion:
            return .deletion(PostID(rawValue: try varint(bytes)), revision: revision)
        case LogEntryKind.feed: return try feed(bytes)
        case LogEntryKind.voter: return try voter(bytes)
        case LogEntryKind.userVoter: return try userVoter(bytes)
        case LogEntryKind.account: return .account(try account(bytes))
        case LogEntryKind.session: return .session(try session(bytes))
        case LogEntryKind.sessionEnded: return .sessionEnded(try tokenHash(bytes))
        case LogEntryKind.sessionsEnded:
            return .sessionsEnded(userID: try varint(bytes), generation: try varint(bytes))
        case LogEntryKind.marks: return .marks(try marks(revision, bytes))
        case LogEntryKind.markThrough: return .markThrough(try markThrough(revision, bytes))
        case LogEntryKind.channel: return .channel(try channel(bytes))
        case LogEntryKind.done, LogEntryKind.outcomeID, LogEntryKind.items:
            return .outcome(try outcome(bytes))
        case LogEntryKind.counters:
            return .counters(lastID: try varint(bytes), revision: try varint(bytes))
        default: throw .unknownKind(kind, offset: start)
        }
    }

    @inline(__always)
    private mutating func counts(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> PostCounts {
        PostCounts(
            id: PostID(rawValue: try varint(bytes)),
            upvoteCount: try varint(bytes),
            downvoteCount: try varint(bytes),
            revision: revision
        )
    }

    @inline(__always)
    private mutating func risingSum(
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> RisingSum {
        let upper = try varint(as: UInt32.self, bytes)
        let lower = try fixed(byteCount: 4, bytes)
        guard upper != 0 else { throw badValue }
        return RisingSum(rawValue: UInt64(upper) << 32 | lower)
    }

    @inline(__always)
    private mutating func ballot(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> LogEntry {
        var counts = try counts(revision, bytes)
        let packed = try varint(bytes)
        guard let voter = UInt32(exactly: packed >> 2) else { throw badValue }
        let direction = VoteDirection(rawValue: UInt8(packed & 3))
        guard direction != .clear else { throw badValue }
        if kind == LogEntryKind.risingBallot { counts.risingSum = try risingSum(bytes) }
        return .ballot(counts, VoterID(rawValue: voter), direction)
    }

    private mutating func post(
        _ revision: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> PostState {
        var counts = try counts(revision, bytes)
        let feed = FeedID(rawValue: try varint(as: UInt32.self, bytes))
        let mode = try byte(bytes)
        guard mode <= 1 else { throw badValue }
        let createTime = try varint(bytes)
        let updateTime = createTime &+ (try varint(bytes))
        let editAge = try varint(bytes)
        guard editAge <= revision else { throw badValue }
        var content = PostContent(commentCount: try varint(bytes))
        if kind != LogEntryKind.post {
            content.authorID = try varint(bytes)
            guard content.authorID > 0 || kind == LogEntryKind.risingPost else { throw badValue }
        }
        if kind == LogEntryKind.risingPost { counts.risingSum = try risingSum(bytes) }
        content.authorName = try text(bytes)
        content.title = try text(bytes)
        content.text = try text(bytes)
        content.linkURL = try text(bytes)
        content.thumbnailURL = try text(bytes)
        content.imageURL = try text(bytes)
        return PostState(
            counts: counts,
            feed: feed,
            keepsBallots: mode == 1,
            createTimeMilliseconds: Int64(bitPattern: createTime),
            updateTimeMilliseconds: Int64(bitPattern: updateTime),
            editRevision: revision - editAge,
            content: content
        )
    }

    private mutating func feed(_ bytes: borrowing LogBytes) throws(LogEntryError) -> LogEntry {
        let id = FeedID(rawValue: try varint(as: UInt32.self, bytes))
        guard let order = Order(rawValue: try byte(bytes)) else { throw badValue }
        guard let mode = VoteMode(rawValue: try byte(bytes)) else { throw badValue }
        let maximumTitle = try varint(as: Int.self, bytes)
        let minimumText = try varint(as: Int.self, bytes)
        let maximumText = try varint(as: Int.self, bytes)
        let policy = FeedPolicy(
            name: try text(bytes),
            defaultOrder: order,
            voteMode: mode,
            maximumTitleCharacterCount: maximumTitle,
            minimumTextCharacterCount: minimumText,
            maximumTextCharacterCount: maximumText
        )
        return .feed(id, policy)
    }

    private mutating func channel(
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> ChannelState {
        ChannelState(
            number: try varint(bytes),
            clientHigh: try fixed(byteCount: 8, bytes),
            clientLow: try fixed(byteCount: 8, bytes),
            channel: try varint(as: UInt32.self, bytes)
        )
    }

    private mutating func outcome(
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> ChannelOutcome {
        let channel = try varint(bytes)
        let sequence = try varint(bytes)
        let hash = UInt32(truncatingIfNeeded: try fixed(byteCount: 4, bytes))
        let outcome: Outcome
        switch kind {
        case LogEntryKind.done: outcome = .done
        case LogEntryKind.outcomeID: outcome = .id(try varint(bytes))
        default:
            outcome = .items(
                ItemMask(
                    try varint(bytes),
                    try varint(bytes),
                    try varint(bytes),
                    try varint(bytes)
                )
            )
        }
        return ChannelOutcome(
            channel: channel,
            sequence: sequence,
            requestHash: hash,
            outcome: outcome
        )
    }
}

/// The fields of accounts and their sessions.
extension LogEntryFields {
    mutating func account(_ bytes: borrowing LogBytes) throws(LogEntryError) -> AccountRow {
        let id = try varint(bytes)
        let createTime = try varint(bytes)
        return AccountRow(
            id: id,
            email: try text(bytes),
            displayName: try text(bytes),
            passwordHash: try text(bytes),
            createTimeMilliseconds: Int64(bitPattern: createTime)
        )
    }

    mutating func session(_ bytes: borrowing LogBytes) throws(LogEntryError) -> SessionRow {
        SessionRow(
            tokenHash: try tokenHash(bytes),
            userID: try varint(bytes),
            expireTimeMilliseconds: Int64(bitPattern: try varint(bytes)),
            generation: try varint(bytes)
        )
    }

    mutating func tokenHash(_ bytes: borrowing LogBytes) throws(LogEntryError) -> TokenHash {
        TokenHash(
            try fixed(byteCount: 8, bytes),
            try fixed(byteCount: 8, bytes),
            try fixed(byteCount: 8, bytes),
            try fixed(byteCount: 8, bytes)
        )
    }
}

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
