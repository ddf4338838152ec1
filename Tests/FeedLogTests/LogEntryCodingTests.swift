import FeedAccounts
import FeedLog
import FeedRanking
import FeedTestSupport
import Glibc
import Testing

/// Replay one seed with `FEED_SEED=<seed> swift test --filter LogEntryCodingTests`.
@Suite struct LogEntryCodingTests {
    /// The body of one commit batch with these log entries, spread over logs.
    private static func body(_ entries: [LogEntry], logCount: Int, seed: UInt64) throws -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        let logs = ChangeLogs(count: logCount, firstBatch: 1) {}
        var log = logs[0]
        for entry in entries {
            // One without a revision has its place behind the one before it in its log.
            if entry.revision != nil { log = logs[Int.random(in: 0..<logCount, using: &random)] }
            log.transaction { log.append(entry) }
        }
        return try #require(logs.nextBody())
    }

    @Test(arguments: TestEnvironment.seeds(1...20))
    func readsWhatWasWrittenInTheOrderOfRevisions(seed: UInt64) throws {
        var samples = LogEntrySamples(seed: seed)
        let entries = (0..<500).map { _ in samples.next() }
        for logCount in [1, 2, 7] {
            let body = try Self.body(entries, logCount: logCount, seed: seed)
            #expect(try LogEntryReader.entries(body) == entries, "FEED_SEED=\(seed)")
        }
    }

    @Test func aVoteTakesFewBytes() throws {
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        logs[0].transaction {
            // A commit batch's first revision is written whole.
            logs[0].append(.deletion(PostID(rawValue: 1), revision: 10_000_000_000))
            let start = logs[0].byteCount
            let counts = PostCounts(
                id: PostID(rawValue: 20_000_000),
                upvoteCount: 2_000_000,
                downvoteCount: 16_000,
                revision: 10_000_000_100
            )
            logs[0].append(.counts(counts))
            #expect(logs[0].byteCount - start <= 11)
            logs[0].append(
                ChannelOutcome(
                    channel: 16_000,
                    sequence: 200_000_000,
                    requestHash: .max,
                    outcome: .done
                )
            )
            #expect(logs[0].byteCount - start <= 24)
        }
    }

    @Test("a post takes no more bytes than announced", arguments: [0, 1, 200, 20_000])
    func aPostTakesNoMoreThanAnnounced(textByteCount: Int) {
        let text = String(repeating: "x", count: textByteCount)
        let content = PostContent(
            authorID: .max,
            authorName: text,
            title: text,
            text: text,
            linkURL: text,
            thumbnailURL: text,
            imageURL: text,
            commentCount: .max
        )
        let post = PostState(
            counts: PostCounts(
                id: PostID(rawValue: .max),
                upvoteCount: .max,
                downvoteCount: .max,
                revision: .max
            ),
            feed: FeedID(rawValue: .max),
            keepsBallots: true,
            createTimeMilliseconds: -1,
            updateTimeMilliseconds: -2,
            editRevision: 0,
            content: content
        )
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        logs[0].transaction {
            logs[0].append(.post(post))
            #expect(logs[0].byteCount <= content.maximumLogEntryByteCount)
            #expect(logs[0].byteCount > 6 * textByteCount)
            // Others know what waits before the transaction ends.
            #expect(logs.waitingByteCount == 0)
            logs[0].countWaitingBytes()
            #expect(logs.waitingByteCount == logs[0].byteCount)
        }
    }

    @Test func anEntryMayBeLargerThanTheBuffer() throws {
        var content = PostContent(text: String(repeating: "text ", count: 1_000_000))
        content.title = "title"
        let post = PostState(
            counts: PostCounts(
                id: PostID(rawValue: 1),
                upvoteCount: 0,
                downvoteCount: 0,
                revision: 1
            ),
            feed: FeedID(rawValue: 0),
            keepsBallots: false,
            createTimeMilliseconds: 0,
            updateTimeMilliseconds: 0,
            editRevision: 1,
            content: content
        )
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        // The two buffers are used alternately, and a large one is given back.
        for _ in 0..<4 {
            logs[0].transaction {
                logs[0].append(.post(post))
                logs[0].append(.deletion(PostID(rawValue: 1), revision: 2))
            }
            let body = try #require(logs.nextBody())
            let read = try LogEntryReader.entries(body)
            #expect(read == [.post(post), .deletion(PostID(rawValue: 1), revision: 2)])
        }
    }

    /// Reads a damaged body to its end or its error, which must lie within it.
    private static func readDamaged(_ body: [UInt8], _ seed: UInt64) {
        do throws(LogEntryError) {
            _ = try LogEntryReader.entries(body)
        } catch {
            let offset =
                switch error {
                case .brokenPart(let offset), .unknownKind(_, let offset),
                    .truncated(_, let offset), .badValue(_, let offset):
                    offset
                }
            #expect(body.indices.contains(offset), "FEED_SEED=\(seed): \(error)")
            #expect(!error.description.isEmpty)
        }
    }

    @Test(arguments: TestEnvironment.seeds(1...20))
    func damagedBytesNeverTrap(seed: UInt64) throws {
        var samples = LogEntrySamples(seed: seed)
        var random = SeededGenerator(seed: seed)
        let entries = (0..<40).map { _ in samples.next() }
        let body = try Self.body(entries, logCount: 3, seed: seed)
        for _ in 0..<400 {
            var flipped = body
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = Int.random(in: 0..<body.count, using: &random)
                flipped[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            Self.readDamaged(flipped, seed)
            Self.readDamaged(
                Array(body.prefix(Int.random(in: 0...body.count, using: &random))),
                seed
            )
            // A log's part of any bytes, each kind first.
            let rest = random.bytes(Int.random(in: 0..<60, using: &random))
            let kind = UInt8.random(in: 0..<22, using: &random)
            Self.readDamaged([UInt8(rest.count + 1), 0, 0, 0, kind] + rest, seed)
            Self.readDamaged(rest, seed)
        }
    }

    /// Every prefix of one log's part is an error, save one that ends between two log entries.
    @Test func whatIsCutOffIsSeen() throws {
        var samples = LogEntrySamples(seed: 5)
        let entries = (0..<60).map { _ in samples.next() }
        let bytes = Array(try Self.body(entries, logCount: 1, seed: 5).dropFirst(4))
        var wholeCount = 0
        for count in 0..<bytes.count {
            let head = (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            let read = try? LogEntryReader.entries(head + bytes.prefix(count))
            guard let read else { continue }
            #expect(read == Array(entries.prefix(wholeCount)))
            wholeCount += 1
        }
        #expect(wholeCount == entries.count)
    }

    @Test func aLengthBeyondTheBodyIsRefused() {
        #expect(throws: LogEntryError.brokenPart(offset: 0)) {
            try LogEntryReader.entries([1, 0, 0])
        }
        #expect(throws: LogEntryError.brokenPart(offset: 0)) {
            try LogEntryReader.entries([2, 0, 0, 0, 1])
        }
        #expect(throws: LogEntryError.unknownKind(99, offset: 4)) {
            try LogEntryReader.entries([1, 0, 0, 0, 99])
        }
        // A revision of more than 64 bits, and a difference that leads beyond them.
        let tooLong = [UInt8](repeating: 0xFF, count: 9) + [2]
        #expect(throws: LogEntryError.badValue(kind: 4, offset: 4)) {
            try LogEntryReader.entries([11, 0, 0, 0, 4] + tooLong)
        }
        let most = [UInt8](repeating: 0xFF, count: 9) + [1]
        #expect(throws: LogEntryError.badValue(kind: 4, offset: 16)) {
            try LogEntryReader.entries([15, 0, 0, 0, 4] + most + [7, 4, 1, 7])
        }
    }

    @Test func aMaskHasTheItemsPutIn() {
        var mask = ItemMask()
        for item in [0, 63, 64, 130, 255] { mask[item] = true }
        mask[64] = false
        #expect((-1...256).filter { mask[$0] } == [0, 63, 130, 255])
        #expect(mask == ItemMask(1 | 1 << 63, 0, 1 << 2, 1 << 63))
    }
}

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
                SessionRow(tokenHash: hash, userID: 9, expireTimeMilliseconds: 1_000, generation: 4)
            ),
            [14] + hashBytes + [9, 0xE8, 7, 4]
        ),
        (
            .account(
                AccountRow(
                    id: 9,
                    email: "a@b",
                    displayName: "A",
                    passwordHash: "$h",
                    createTimeMilliseconds: 1_000,
                    version: 300,
                    status: .suspended
                )
            ),
            [24, 9, 0xE8, 7, 0xAC, 2, 1, 3, 97, 64, 98, 1, 65, 2, 36, 104]
        ),
        (
            .session(
                SessionRow(
                    tokenHash: hash,
                    userID: 9,
                    expireTimeMilliseconds: 1_000,
                    generation: 4,
                    kind: .passwordReset
                )
            ),
            [25] + hashBytes + [9, 0xE8, 7, 4]
        ),
        (.sessionEnded(hash), [15] + hashBytes),
        (.sessionsEnded(userID: 9, generation: 5), [16, 9, 5]),
        (.evictedChannel(300), [23, 0xAC, 2]),
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

/// Log entries of any kind with values of any size.
struct LogEntrySamples {
    var random: SeededGenerator
    /// The revision of the log entry made last.
    private(set) var revision: UInt64 = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func number(bitCount: Int = 64) -> UInt64 {
        random.next() >> UInt64.random(in: UInt64(64 - bitCount)...63, using: &random)
    }

    /// The next log entry; a revision is above all earlier ones.
    mutating func next() -> LogEntry {
        switch Int.random(in: 0..<19, using: &random) {
        case 0, 1: .counts(counts())
        case 2: .ballot(counts(), voter(), [.up, .down, nil].randomElement(using: &random) ?? nil)
        case 3: .post(post())
        case 4: .deletion(PostID(rawValue: number()), revision: nextRevision())
        case 5: .feed(FeedID(rawValue: UInt32(number(bitCount: 32))), policy())
        case 6: .voter(voter(), device: Device16(high: number(), low: number()))
        case 7: .channel(channel())
        case 8, 9: .outcome(outcome())
        case 10: .userVoter(voter(), userID: number())
        case 11: .account(account())
        case 12: .session(session())
        case 13: .sessionEnded(tokenHash())
        case 14: .sessionsEnded(userID: number(), generation: number())
        case 15: .marks(marks())
        case 16: .markThrough(markThrough())
        case 17: .evictedChannel(number())
        default: .counters(lastID: number(), revision: number())
        }
    }

    mutating func nextRevision() -> UInt64 {
        revision += 1 + number(bitCount: 40)
        return revision
    }

    mutating func voter() -> VoterID { VoterID(rawValue: UInt32(number(bitCount: 32))) }

    private mutating func counts() -> PostCounts {
        PostCounts(
            id: PostID(rawValue: number()),
            upvoteCount: number(),
            downvoteCount: number(),
            revision: nextRevision(),
            risingSum: risingSum()
        )
    }

    /// None, or one of any exponent above.
    private mutating func risingSum() -> RisingSum {
        let upper = number(bitCount: 32)
        return upper == 0 ? .initial : RisingSum(rawValue: upper << 32 | number(bitCount: 32))
    }

    mutating func text() -> String {
        let texts = [
            "", "a", "é", "more than fifteen bytes", String(repeating: "long ", count: 90),
        ]
        return texts.randomElement(using: &random) ?? ""
    }

    private mutating func post() -> PostState {
        var counts = counts()
        // The entry of a post leaves the sum as it is.
        counts.risingSum = .initial
        return PostState(
            counts: counts,
            feed: FeedID(rawValue: UInt32(number(bitCount: 32))),
            keepsBallots: random.oneIn(2),
            createTimeMilliseconds: Int64(bitPattern: number()),
            updateTimeMilliseconds: Int64(bitPattern: number()),
            editRevision: UInt64.random(in: 0...counts.revision, using: &random),
            content: PostContent(
                authorID: random.oneIn(2) ? 0 : number(),
                authorName: text(),
                title: text(),
                text: text(),
                linkURL: text(),
                thumbnailURL: text(),
                imageURL: text(),
                commentCount: number()
            )
        )
    }

    private mutating func policy() -> FeedPolicy {
        FeedPolicy(
            name: text(),
            defaultOrder: Order.allCases.randomElement(using: &random) ?? .top,
            voteMode: random.oneIn(2) ? .ballot : .tally,
            maximumTitleCharacterCount: Int(number(bitCount: 63)),
            minimumTextCharacterCount: Int(number(bitCount: 63)),
            maximumTextCharacterCount: Int(number(bitCount: 63))
        )
    }

    private mutating func channel() -> ChannelState {
        ChannelState(
            number: number(),
            clientHigh: number(),
            clientLow: number(),
            channel: UInt32(number(bitCount: 32))
        )
    }

    private mutating func outcome() -> ChannelOutcome {
        let outcomes: [Outcome] = [
            .done, .id(number()), .items(ItemMask(number(), number(), number(), number())),
        ]
        return ChannelOutcome(
            channel: number(),
            sequence: number(),
            requestHash: UInt32(number(bitCount: 32)),
            outcome: outcomes.randomElement(using: &random) ?? .done
        )
    }
}

extension LogEntryReader {
    static func entries(_ body: [UInt8]) throws(LogEntryError) -> [LogEntry] {
        var reader = try LogEntryReader(body)
        var entries: [LogEntry] = []
        while let entry = try reader.next() { entries.append(entry) }
        return entries
    }
}

extension ChangeLogs {
    /// The body of the next commit batch; nil where no log entry waits.
    func nextBody() -> [UInt8]? {
        var body: [UInt8] = []
        return takeBatch(into: &body) == nil ? nil : body
    }

    /// The bodies of the commit batches that one thread takes while others write, one a log, and
    /// the faults that the writers have seen.
    func batches(
        while write: @escaping @Sendable (Int) -> [String]
    ) async throws -> (bodies: [[UInt8]], faults: [String]) {
        let running = Locked(count)
        // Threads of their own: Swift's pool may have fewer than there are writers.
        async let bodies = offload {
            var bodies: [[UInt8]] = []
            while running.withLock({ $0 > 0 }) {
                if let body = self.nextBody() { bodies.append(body) }
                sched_yield()
            }
            if let body = self.nextBody() { bodies.append(body) }
            return bodies
        }
        let faults = try await withThrowingTaskGroup(of: [String].self) { group in
            for loop in 0..<count {
                group.addTask {
                    try await offload {
                        defer { running.withLock { $0 -= 1 } }
                        return write(loop)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        return (try await bodies, faults)
    }
}

extension LogEntrySamples {
    mutating func account() -> AccountRow {
        let version = random.oneIn(2) ? 0 : number()
        return AccountRow(
            id: number(),
            email: text(),
            displayName: text(),
            passwordHash: text(),
            createTimeMilliseconds: Int64(bitPattern: number()),
            version: version,
            status: version == 0
                ? .active : AccountRow.Status.allCases.randomElement(using: &random) ?? .active
        )
    }

    mutating func session() -> SessionRow {
        SessionRow(
            tokenHash: tokenHash(),
            userID: number(),
            expireTimeMilliseconds: Int64(bitPattern: number()),
            generation: number(),
            kind: random.oneIn(3) ? .passwordReset : .session
        )
    }

    mutating func tokenHash() -> TokenHash { TokenHash(number(), number(), number(), number()) }

    mutating func marks() -> PostMarks {
        let sides: [MarkSet] = [[], .read, .unread]
        let others: [MarkSet] = [[], .dismissed, .restored]
        let side = sides.randomElement(using: &random) ?? []
        return PostMarks(
            viewer: voter(),
            post: PostID(rawValue: number()),
            marks: side.union(others.randomElement(using: &random) ?? []),
            revision: nextRevision()
        )
    }

    mutating func markThrough() -> MarkThrough {
        MarkThrough(
            viewer: voter(),
            feed: random.oneIn(3) ? nil : FeedID(rawValue: UInt32(number(bitCount: 32))),
            mark: Mark.allCases.randomElement(using: &random) ?? .read,
            createTimeMilliseconds: Int64(bitPattern: number()),
            post: PostID(rawValue: number()),
            place: UInt8(number(bitCount: 8)),
            revision: nextRevision()
        )
    }
}
