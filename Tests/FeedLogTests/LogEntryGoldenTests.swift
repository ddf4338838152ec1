import FeedAccounts
import FeedLog
import FeedRanking
import Testing

/// The bytes of log entries in data directories that exist: they never change.
@Suite struct LogEntryGoldenTests {
    private static let hash = TokenHash(0x0706_0504_0302_0100, 1, 2, 0xFF00_0000_0000_0000)
    private static let hashBytes: [UInt8] =
        Array(0...7) + [1, 0, 0, 0, 0, 0, 0, 0] + [2, 0, 0, 0, 0, 0, 0, 0]
        + [0, 0, 0, 0, 0, 0, 0, 0xFF]

    private static func post(authorID: UInt64, risingSum: RisingSum = .initial) -> LogEntry {
        .post(
            PostState(
                counts: PostCounts(
                    id: PostID(rawValue: 5),
                    upvoteCount: 1,
                    downvoteCount: 2,
                    revision: 300,
                    risingSum: risingSum
                ),
                feed: FeedID(rawValue: 1),
                keepsBallots: true,
                createTimeMilliseconds: 1_000,
                updateTimeMilliseconds: 1_003,
                editRevision: 299,
                content: PostContent(authorID: authorID, authorName: "a", title: "b")
            )
        )
    }

    private static let counts = PostCounts(
        id: PostID(rawValue: 5),
        upvoteCount: 1,
        downvoteCount: 2,
        revision: 300,
        risingSum: RisingSum(rawValue: 130 << 32 | 0xFF00_0001)
    )

    static let entries: [(LogEntry, [UInt8])] = [
        (.counts(counts), [20, 0xAC, 2, 5, 1, 2, 0x82, 1, 1, 0, 0, 0xFF]),
        (
            .ballot(counts, VoterID(rawValue: 3), .down),
            [21, 0xAC, 2, 5, 1, 2, 14, 0x82, 1, 1, 0, 0, 0xFF]
        ),
        (
            post(authorID: 0),
            [3, 0xAC, 2, 5, 1, 2, 1, 1, 0xE8, 7, 3, 1, 0, 1, 97, 1, 98, 0, 0, 0, 0]
        ),
        (
            post(authorID: 0, risingSum: RisingSum(rawValue: 130 << 32 | 0xFF00_0001)),
            [
                22, 0xAC, 2, 5, 1, 2, 1, 1, 0xE8, 7, 3, 1, 0, 0, 0x82, 1, 1, 0, 0, 0xFF, 1, 97, 1,
                98, 0, 0, 0, 0,
            ]
        ),
        (
            .userVoter(VoterID(rawValue: 1 << 29), userID: 1 << 63 | 7),
            [
                12, 0x80, 0x80, 0x80, 0x80, 2, 0x87, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                1,
            ]
        ),
        (
            .account(
                AccountRow(
                    id: 9,
                    email: "a@b",
                    displayName: "A",
                    passwordHash: "$h",
                    createTimeMilliseconds: 1_000
                )
            ),
            [13, 9, 0xE8, 7, 3, 97, 64, 98, 1, 65, 2, 36, 104]
        ),
        (
            .session(
                SessionRow(
                    tokenHash: hash,
                    userID: 9,
                    expireTimeMilliseconds: 1_000,
                    generation: 4
                )
            ),
            [14] + hashBytes + [9, 0xE8, 7, 4]
        ),
        (.sessionEnded(hash), [15] + hashBytes),
        (.sessionsEnded(userID: 9, generation: 5), [16, 9, 5]),
        (
            post(authorID: 300),
            [17, 0xAC, 2, 5, 1, 2, 1, 1, 0xE8, 7, 3, 1, 0, 0xAC, 2, 1, 97, 1, 98, 0, 0, 0, 0]
        ),
        (
            .marks(
                PostMarks(
                    viewer: VoterID(rawValue: 3),
                    post: PostID(rawValue: 5),
                    marks: [.read, .dismissed],
                    revision: 6
                )
            ),
            [18, 6, 3, 5, 5]
        ),
        (
            .markThrough(
                MarkThrough(
                    viewer: VoterID(rawValue: 3),
                    feed: FeedID(rawValue: 1),
                    mark: .restored,
                    createTimeMilliseconds: 1_000,
                    post: PostID(rawValue: 5),
                    place: 2,
                    revision: 6
                )
            ),
            [19, 6, 3, 2, 4, 0xE8, 7, 5, 2]
        ),
        (
            .markThrough(
                MarkThrough(
                    viewer: VoterID(rawValue: 3),
                    feed: nil,
                    mark: .read,
                    createTimeMilliseconds: 0,
                    post: PostID(rawValue: 5),
                    place: 0,
                    revision: 6
                )
            ),
            [19, 6, 3, 0, 1, 0, 5, 0]
        ),
    ]

    @Test(arguments: entries)
    func anEntryHasTheseBytes(entry: LogEntry, bytes: [UInt8]) throws {
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        logs[0].transaction { logs[0].append(entry) }
        let body = try #require(logs.nextBody())
        #expect(body == [UInt8(bytes.count), 0, 0, 0] + bytes)
        #expect(try LogEntryReader.entries(body) == [entry])
    }

    @Test func aHashIsItsBytes() {
        #expect(Self.hash.bytes == Self.hashBytes)
        #expect(TokenHash(bytes: Self.hashBytes) == Self.hash)
        #expect(TokenHash(bytes: Array(Self.hashBytes.dropLast())) == nil)
    }

    /// Marks that exclude each other, and marks that do not exist.
    @Test(
        arguments: [[18, 6, 3, 5, 3], [18, 6, 3, 5, 16], [19, 6, 3, 0, 5, 0, 5, 0]] as [[UInt8]]
    )
    func impossibleMarksAreRefused(bytes: [UInt8]) {
        #expect(throws: LogEntryError.badValue(kind: bytes[0], offset: 4)) {
            try LogEntryReader.entries([UInt8(bytes.count), 0, 0, 0] + bytes)
        }
    }

    /// A mark of one loop and a mark of another are read in the order in which they were made.
    @Test func marksOfTwoLogsAreReadInTheirOrder() throws {
        let logs = ChangeLogs(count: 2, firstBatch: 1) {}
        let marks = [(1, MarkSet.read), (0, .unread), (1, .dismissed), (0, .read)].enumerated()
        let entries = marks.map { number, mark in
            let entry = PostMarks(
                viewer: VoterID(rawValue: 3),
                post: PostID(rawValue: 5),
                marks: mark.1,
                revision: UInt64(number + 1)
            )
            logs[mark.0].transaction { logs[mark.0].append(entry) }
            return LogEntry.marks(entry)
        }
        #expect(try LogEntryReader.entries(try #require(logs.nextBody())) == entries)
    }
}
