import FeedLog
import FeedRanking
import FeedTestSupport
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
            if entry.revision != nil {
                log = logs[Int.random(in: 0..<logCount, using: &random)]
            }
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
