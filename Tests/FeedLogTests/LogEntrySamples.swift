import FeedLog
import FeedRanking
import FeedTestSupport
import Glibc

/// Log entries of any kind with values of any size.
struct LogEntrySamples {
    var random: SeededGenerator
    /// The revision of the log entry made last.
    private(set) var revision: UInt64 = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// A number of any count of bits.
    mutating func number(bitCount: Int = 64) -> UInt64 {
        random.next() >> UInt64.random(in: UInt64(64 - bitCount)...63, using: &random)
    }

    /// The next log entry; a revision is above all earlier ones.
    mutating func next() -> LogEntry {
        switch Int.random(in: 0..<18, using: &random) {
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
        default: .counters(lastID: number(), revision: number())
        }
    }

    mutating func nextRevision() -> UInt64 {
        revision += 1 + number(bitCount: 40)
        return revision
    }

    mutating func voter() -> VoterID {
        VoterID(rawValue: UInt32(number(bitCount: 32)))
    }

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
    /// All log entries of a body.
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
