import FeedAccounts
import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport
import Testing

/// What a follower makes of single records.
@Suite struct LiveRecordTests {
    /// A follower, and what its channels were told.
    private final class Bench {
        let store = FeedStore(stripeCount: 2) { 0 }
        let accounts = Accounts()
        var channels: [LogEntry] = []
        private var chain = RecordChain(after: .start)
        private var number: UInt64 = 0
        private var live: LiveApply?

        init() {
            live = LiveApply(
                store: store,
                accounts: accounts,
                after: chain,
                channels: { [unowned self] in channels.append($0) }
            )
        }

        /// Ends the following.
        func end() {
            live?.end()
            live = nil
        }

        /// Applies a record with the logs of two loops, each with its entries.
        func apply(
            _ first: [LogEntry],
            _ second: [LogEntry] = [],
            count: Int? = nil
        ) throws {
            let logs = ChangeLogs(count: 2, firstBatch: 1) {}
            for (log, entries) in [(logs[0], first), (logs[1], second)] {
                log.transaction { for entry in entries { log.append(entry) } }
            }
            var body: [UInt8] = []
            let batch = logs.takeBatch(into: &body, after: chain.headByteCount)
            if let batch {
                chain.seal(&body, entryCount: count ?? batch.entryCount, at: 1_000_000)
            } else {
                body = []
            }
            number += 1
            try live?.apply(body.span, at: JournalPosition(number: number, hash: 0), &chain)
        }
    }

    private static func counts(_ id: UInt64, _ upvotes: UInt64, _ revision: UInt64) -> LogEntry {
        .counts(
            PostCounts(
                id: PostID(rawValue: id),
                upvoteCount: upvotes,
                downvoteCount: 0,
                revision: revision
            )
        )
    }

    @Test func outcomesComeBehindChannelsAndEvictionsBehindOutcomes() throws {
        let bench = Bench()
        let channel = ChannelState(number: 7, clientHigh: 1, clientLow: 2, channel: 3)
        let outcome = ChannelOutcome(channel: 7, sequence: 1, requestHash: 5, outcome: .done)
        try bench.apply([.outcome(outcome), .evictedChannel(6)], [.channel(channel)])
        #expect(bench.channels == [.channel(channel), .outcome(outcome), .evictedChannel(6)])
        try bench.apply([.evictedChannel(7)])
        #expect(bench.channels.count == 4)
    }

    @Test func aRecordWithoutBytesChangesNothing() throws {
        let bench = Bench()
        try bench.apply([StateFixture.post(1, revision: 4)])
        let hash = bench.store.stateHash()
        try bench.apply([])
        #expect(bench.store.stateHash() == hash && bench.store.revision == 4)
    }

    @Test func changesOfTwoLoopsComeInTheOrderOfTheirRevisions() throws {
        let bench = Bench()
        let post = StateFixture.post(1, revision: 1)
        // The log of the first loop has the votes on a post that another loop has made.
        try bench.apply(
            [Self.counts(1, 1, 2), Self.counts(1, 3, 4)],
            [post, Self.counts(1, 2, 3)]
        )
        var page = PostPage()
        try bench.store.post(PostID(rawValue: 1), into: &page)
        #expect(page.rows[0].upvoteCount == 3 && bench.store.revision == 4)
    }

    @Test func aRecordThatBreaksShowsNoRevision() throws {
        let bench = Bench()
        try bench.apply([StateFixture.post(1, revision: 1)])
        #expect(throws: StorageError.self) {
            try bench.apply([StateFixture.post(2, revision: 2)], count: 2)
        }
        #expect(throws: StorageError.self) {
            try Bench().apply([StateFixture.post(3, revision: 3, feed: 9)])
        }
        #expect(bench.store.revision == 1)
    }

    /// A page that a loop has kept is read again once a record changes a post of it.
    @Test func eachKindOfChangeEndsAKeptPage() throws {
        let bench = Bench()
        try bench.apply([StateFixture.post(1, revision: 1), StateFixture.post(2, revision: 2)])
        let query = PageQuery(feed: FeedID(rawValue: 0), order: .top, size: 10)
        let changes: [LogEntry] = [
            Self.counts(1, 5, 3), StateFixture.post(2, revision: 4),
            StateFixture.post(3, revision: 5), .deletion(PostID(rawValue: 3), revision: 6),
        ]
        for change in changes {
            let moment = bench.store.moment(of: query)
            let page = try bench.store.read(query)
            #expect(page.isShown)
            let life = PageLife(of: page, readAt: moment)
            #expect(life.has(bench.store.moment(of: query)))
            try bench.apply([change])
            #expect(!life.has(bench.store.moment(of: query)), "\(change)")
        }
    }

    /// A new leader's posts are not before those of the last one, whose clock was ahead.
    @Test func aNewLeadersClockIsHeldAtTheLastRecord() throws {
        let bench = Bench()
        try bench.apply([StateFixture.post(1, revision: 1)])
        // No later post comes behind the newest: its record has its time, and its id is the greatest.
        let first = try bench.store.read(PageQuery(feed: nil, order: .new, size: 5))
        #expect(first.refreshPlace?.id.rawValue == 1)
        bench.end()
        var page = PostPage()
        let content = PostContent(title: "next")
        try bench.store.createPost(content, in: FeedID(rawValue: 0), into: &page)
        #expect(page.rows[0].createTimeMilliseconds == 1_000)
        #expect(page.rows[0].id.rawValue == 2 && page.rows[0].revision == 2)
    }

    /// Deletions keep to the limit, and the reader that has missed one begins a new copy.
    @Test func deletionsAboveTheLimitAreForgotten() throws {
        let bench = Bench()
        let limit = UInt64(RankingLimits.maximumTombstoneCount)
        try bench.apply([StateFixture.post(1, revision: 1)])
        let entries: [LogEntry] = (2...limit + 20).map {
            .deletion(PostID(rawValue: $0), revision: $0)
        }
        for first in stride(from: 0, to: entries.count, by: 100_000) {
            try bench.apply(Array(entries[first..<min(first + 100_000, entries.count)]))
        }
        for (revision, isReset) in [(2, true), (limit + 19, false)] as [(UInt64, Bool)] {
            let position = SyncPosition(revision: revision, copyRevision: 0)
            var page = PostPage()
            var allowance = RefreshAllowance(keyCount: .max)
            let query = SyncQuery(position: position, size: 10)
            guard
                case .done(let read) = bench.store.sync(query, into: &page, allowance: &allowance)
            else { throw Unexpected("again") }
            #expect(read.isReset == isReset)
        }
    }

    // Accounts and sessions.

    private static func session(
        _ word: UInt64,
        until time: Int64,
        generation: UInt64 = 0
    ) -> SessionRow {
        SessionRow(
            tokenHash: TokenHash(word, 0, 0, 0),
            userID: 1,
            expireTimeMilliseconds: time,
            generation: generation
        )
    }

    private static let account = AccountRow(
        id: 1,
        email: "a@example.org",
        displayName: "a",
        passwordHash: "",
        createTimeMilliseconds: 0
    )

    @Test func accountsAndSessionsComeInAnyOrderWithinARecord() throws {
        let bench = Bench()
        // The loops log a session before its account, and an end before its beginning.
        try bench.apply(
            [
                .session(Self.session(1, until: 50)), .sessionEnded(TokenHash(2, 0, 0, 0)),
                .session(Self.session(3, until: 90)),
            ],
            [
                .account(Self.account), .session(Self.session(2, until: 50)),
                .session(Self.session(3, until: 70)),
            ]
        )
        #expect(bench.accounts.account(1) == Self.account)
        #expect(bench.accounts.session(TokenHash(1, 0, 0, 0), at: 0) != nil)
        #expect(bench.accounts.session(TokenHash(2, 0, 0, 0), at: 0) == nil)
        #expect(bench.accounts.session(TokenHash(3, 0, 0, 0), at: 80) != nil)
        #expect(bench.accounts.accountCount == 1 && bench.accounts.sessionCount == 2)
    }

    /// What a connection has looked up is looked up again once a session ends.
    @Test func sessionsAreRenewedAndEndedWhereTheyAreLookedUp() throws {
        let bench = Bench()
        let hash = TokenHash(1, 0, 0, 0)
        try bench.apply([.account(Self.account), .session(Self.session(1, until: 50))])
        let revocations = bench.accounts.revocationCount
        try bench.apply([.session(Self.session(1, until: 80)), .account(Self.account)])
        #expect(bench.accounts.session(hash, at: 60) != nil)
        #expect(bench.accounts.revocationCount == revocations)
        #expect(bench.accounts.accountCount == 1 && bench.accounts.sessionCount == 1)
        try bench.apply(
            [.sessionsEnded(userID: 1, generation: 1)],
            [.session(Self.session(4, until: 70, generation: 1))]
        )
        #expect(bench.accounts.session(hash, at: 60) == nil)
        #expect(bench.accounts.session(TokenHash(4, 0, 0, 0), at: 60) != nil)
        #expect(bench.accounts.revocationCount > revocations && bench.accounts.sessionCount == 1)
        // The next account's number is behind those of the log.
        let email = try #require(EmailAddress("b@example.org"))
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        let row = try logs[0].transaction {
            try bench.accounts.create(email, displayName: "", passwordHash: "", at: 0, logs[0])
        }
        #expect(row.id == 2)
    }

    @Test(arguments: TestEnvironment.seeds(1...3))
    func accountsAreThoseThatAStartWouldFind(seed: UInt64) throws {
        let bench = Bench()
        let recovery = AccountsRecovery()
        var source = LogEntrySource()
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let body = source.batch(writes: 60, using: &generator)
            var reader = try LogEntryReader(body)
            var entries: [LogEntry] = []
            while let entry = try reader.next() {
                switch entry {
                case .account, .session, .sessionEnded, .sessionsEnded: entries.append(entry)
                default: continue
                }
                recovery.apply(entry)
            }
            recovery.endRecord()
            try bench.apply(entries.shuffled(using: &generator))
            let hash = bench.accounts.state().stateHash
            #expect(hash == recovery.state.stateHash, "seed \(seed)")
        }
        #expect(bench.accounts.sessionCount > 5, "seed \(seed)")
    }
}
