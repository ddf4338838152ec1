import FeedAccounts
import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

@Suite struct CheckpointTests {
    private let directory: DataDirectory
    private let database: StateDatabase

    init() throws { (directory, database) = try DataDirectory.created() }

    @Test func anEvictedChannelLosesItsRow() throws {
        try StateFixture.checkpoint([Self.channels([1, 2]), Self.outcome(1, 5)], into: database)
        try Self.checkpoint(database) { $0.deleteRows(ofChannels: [1]) }
        let model = try StateModel(database)
        #expect(model.channels.keys.sorted() == [2])
        #expect(model.outcomes.isEmpty)
        #expect(database.meta.checkpointed.number == 2)
    }

    @Test func anOutcomeAfterTheEvictionKeepsTheRow() throws {
        try StateFixture.checkpoint([Self.channels([1]), Self.outcome(1, 5)], into: database)
        try Self.checkpoint(database) { memtable in
            memtable.deleteRows(ofChannels: [1])
            try memtable.add(Self.outcome(1, 6), at: JournalPosition(number: 3, hash: 3))
        }
        #expect(try StateModel(database).outcomes[1]?.keys.sorted() == [5, 6])
    }

    @Test func anOutcomeOfAnEvictedChannelMakesNoRow() throws {
        try StateFixture.checkpoint([Self.outcome(1, 5)], into: database)
        #expect(try StateModel(database).outcomes.isEmpty)
        #expect(database.meta.checkpointed.number == 1)
    }

    /// The outcomes of 256 sequences are kept, however many came between two checkpoints.
    @Test func outcomesOfTheWindowAreKept() throws {
        try StateFixture.checkpoint([Self.channels([1])], into: database)
        for end in [3, 200, 300, 700, 701] as [UInt64] {
            let known = try StateModel(database).outcomes[1]?.keys.max() ?? 0
            let bodies = (known + 1...end).shuffled().map { Self.outcome(1, $0) }
            try StateFixture.checkpoint(bodies, into: database)
            let found = try StateModel(database).outcomes[1]?.keys.sorted() ?? []
            #expect(found == Array(max(1, Int64(end) - 255)...Int64(end)).map(UInt64.init))
        }
    }

    @Test func ballotsAreKeptHoweverMany() throws {
        var entries: [LogEntry] = [
            .feed(FeedID(rawValue: 2), FeedPolicy(name: "ballots", voteMode: .ballot)),
            StateFixture.post(1, revision: 1, feed: 2),
        ]
        var expected: [UInt32: VoteDirection] = [:]
        var revision: UInt64 = 1
        for count in [1, 127, 128, 129, 1_024, 3_000] as [UInt32] {
            for voter in UInt32(expected.count)..<count {
                revision += 1
                let direction: VoteDirection = voter % 3 == 0 ? .up : .down
                expected[voter] = direction
                entries.append(.ballot(Self.counts(revision), VoterID(rawValue: voter), direction))
            }
            try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
            entries = []
            #expect(try StateModel(database).ballots[1] == expected)
        }
        for voter in 0..<3_000 as Range<UInt32> where voter % 100 != 7 {
            revision += 1
            expected[voter] = nil
            entries.append(.ballot(Self.counts(revision), VoterID(rawValue: voter), nil))
        }
        try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
        #expect(try StateModel(database).ballots[1] == expected)
    }

    /// The last ballot of each voter on each post stands, however often it has changed.
    @Test(arguments: TestEnvironment.seeds(1...3))
    func theLastOfManyBallotsStands(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let posts = (1...300).map { StateFixture.post($0, revision: $0, feed: 2) }
        let feed = FeedPolicy(name: "ballots", voteMode: .ballot)
        var entries: [LogEntry] = [.feed(FeedID(rawValue: 2), feed)] + posts
        var expected: [UInt64: [UInt32: VoteDirection]] = [:]
        for revision in 301...20_000 as ClosedRange<UInt64> {
            let post = UInt64.random(in: 1...300, using: &generator)
            let number = UInt32.random(in: 0..<50, using: &generator)
            let voter = generator.oneIn(2) ? number : (1 << 29) + number * 100
            let direction: VoteDirection? = [.up, .down, nil][Int(generator.next() % 3)]
            expected[post, default: [:]][voter] = direction
            var counts = Self.counts(revision)
            counts.id = PostID(rawValue: post)
            entries.append(.ballot(counts, VoterID(rawValue: voter), direction))
        }
        let half = entries.count / 2
        try StateFixture.checkpoint(
            [
                StateFixture.body(Array(entries[..<half])),
                StateFixture.body(Array(entries[half...])),
            ],
            into: database
        )
        #expect(try StateModel(database).ballots == expected.filter { !$0.value.isEmpty })
    }

    /// A step that finds no room is undone, and succeeds once there is some.
    @Test func aFullDiskIsNoHarm() throws {
        var source = LogEntrySource()
        var generator = SeededGenerator(seed: 9)
        let bodies = (0..<5).map { _ in source.batch(writes: 80, using: &generator) }
        let checkpoint = try StateFixture.begin(bodies, into: database)
        #expect(try !checkpoint.step(changes: 20))
        try database.limitPages(to: 1)
        let before = try StateModel(database)
        for _ in 0..<3 {
            let error = #expect(throws: StorageError.self) { try checkpoint.step() }
            guard error?.sqlite?.kind == .full else {
                throw Unexpected("\(error.map(String.init(describing:)) ?? "no error")")
            }
            #expect(try StateModel(database) == before)
        }
        try database.limitPages(to: 1 << 20)
        while try !checkpoint.step(changes: 7) {}
        var found = try StateModel(database)
        found.highestRevision = source.model.highestRevision
        found.highestID = source.model.highestID
        #expect(found == source.model)
        try database.verify()
    }

    @Test func aStepEndsWhenItIsDue() throws {
        let posts = (1...100).map { StateFixture.post($0, revision: $0) }
        let checkpoint = try StateFixture.begin([StateFixture.body(posts)], into: database)
        var calls = 0
        var steps = 0
        repeat {
            steps += 1
        } while try !checkpoint.step {
            calls += 1
            return calls % 10 == 0
        }
        #expect(steps == 11)
        #expect(checkpoint.isDone)
        #expect(try checkpoint.step())
    }

    @Test func anOlderRecordAfterANewerChangesNothing() throws {
        let bodies = [
            StateFixture.body([StateFixture.post(1, revision: 1)]),
            StateFixture.body([.counts(Self.counts(9))]),
            StateFixture.body([.counts(Self.counts(5))]),
        ]
        try StateFixture.checkpoint(bodies, into: database)
        #expect(try StateModel(database).posts[1]?.counts == Self.counts(9))
    }

    /// More posts than are sorted at once, in no order.
    @Test func manyPostsAreCheckpointedOnceEach() throws {
        let ids = (0..<20_000 as Range<UInt64>).map { $0 &* 7_919 % 20_000 * 50 + 1 }
        let posts = ids.enumerated().map { StateFixture.post($1, revision: UInt64($0) + 1) }
        let checkpoint = try StateFixture.begin([StateFixture.body(posts)], into: database)
        var last: UInt64 = 0
        while try !checkpoint.step(changes: 4_000) {
            let found = try StateModel(database).posts.keys.sorted()
            // Each step continues where the last one ended.
            #expect(found == Array(ids.sorted().prefix(found.count)))
            #expect(UInt64(found.count) == last + 4_000)
            last = UInt64(found.count)
        }
        #expect(try StateModel(database).posts.count == 20_000)
    }

    @Test func aTableKnowsItsSize() throws {
        var memtable = Memtable()
        let isEmpty = memtable.isEmpty
        #expect(isEmpty)
        let posts = (1...5_000).map { StateFixture.post($0, revision: $0) }
        try memtable.add(StateFixture.body(posts), at: JournalPosition(number: 1, hash: 1))
        let changes = (isEmpty: memtable.isEmpty, count: memtable.changeCount)
        #expect(!changes.isEmpty && changes.count == 5_000)
        let byteCount = memtable.byteCount
        #expect(byteCount > 5_000 * 200)
        try memtable.add(StateFixture.body(posts), at: JournalPosition(number: 2, hash: 2))
        let again = memtable.byteCount
        #expect(again == byteCount)
    }

    private static func channels(_ numbers: [UInt64]) -> [UInt8] {
        StateFixture.body(
            numbers.map {
                .channel(ChannelState(number: $0, clientHigh: 1, clientLow: $0, channel: 0))
            }
        )
    }

    private static func outcome(_ channel: UInt64, _ sequence: UInt64) -> [UInt8] {
        StateFixture.body([
            .outcome(
                ChannelOutcome(channel: channel, sequence: sequence, requestHash: 1, outcome: .done)
            )
        ])
    }

    private static func counts(_ revision: UInt64) -> PostCounts {
        PostCounts(
            id: PostID(rawValue: 1),
            upvoteCount: revision,
            downvoteCount: 0,
            revision: revision
        )
    }

    private static func checkpoint(
        _ database: StateDatabase,
        _ body: (inout Memtable) throws -> Void
    ) throws {
        var memtable = Memtable()
        try body(&memtable)
        #expect(try Checkpoint(memtable, into: database).step())
    }
}

/// Random writes, checkpointed at random points with crashes in between, come to the same
/// as in the model, however often.
@Suite struct CheckpointModelTests {
    @Test(arguments: TestEnvironment.seeds(1...12))
    func checkpointsComeToWhatTheWritesCameTo(seed: UInt64) throws {
        let run = try CheckpointRun(seed: seed)
        for _ in 0..<(TestEnvironment.modelOperations(200)) { try run.turn() }
        try run.finish()
        #expect(run.crashCount > 0 && run.crashesInCheckpoints > 0, "seed \(seed)")
    }
}

/// One run: the journal in an array, a database, and what is being done to it.
private final class CheckpointRun {
    private let directory: DataDirectory
    private let seed: UInt64
    private var generator: SeededGenerator
    private var source = LogEntrySource()
    private var bodies: [[UInt8]] = []
    /// What the writes come to up to each record, from none on.
    private var models = [StateModel.new]
    private var database: StateDatabase?
    private var memtable: Memtable?
    private var checkpoint: Checkpoint?
    /// The last record that was added to the memtable.
    private var added = 0
    private(set) var crashCount = 0
    private(set) var crashesInCheckpoints = 0

    init(seed: UInt64) throws {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        directory = try DataDirectory()
        database = try directory.create()
    }

    func turn() throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: write()
        case 4..<6: try add()
        case 6..<9: try step()
        default: try crash()
        }
    }

    /// Checkpoints all that was written and compares; then once more, from the file.
    func finish() throws {
        while added < bodies.count { try add() }
        while checkpoint != nil { try step() }
        try step()
        while checkpoint != nil { try step() }
        try compare(bodies.count)
        database = nil
        database = try directory.open()
        try compare(bodies.count)
    }

    private func write() {
        let writes = Int.random(in: 1...40, using: &generator)
        bodies.append(source.batch(writes: writes, using: &generator))
        models.append(source.model)
    }

    private func add() throws {
        guard added < bodies.count else { return }
        added += 1
        var memtable = self.memtable.take() ?? Memtable()
        if generator.oneIn(3), let number = source.evict(using: &generator) {
            memtable.deleteRows(ofChannels: [number])
        }
        try memtable.add(bodies[added - 1], at: Self.position(added))
        self.memtable = consume memtable
    }

    private func step() throws {
        guard let database else { return }
        if checkpoint == nil, let memtable = memtable.take() {
            checkpoint = Checkpoint(memtable, into: database)
        }
        guard let checkpoint else { return }
        let limit = Int.random(in: 1...12, using: &generator)
        guard try checkpoint.step(changes: limit) else { return }
        self.checkpoint = nil
        try compare(Int(checkpoint.target.number))
    }

    /// The process dies: the memtable is gone, and its records are read from the journal again.
    private func crash() throws {
        crashCount += 1
        checkpoint = nil
        _ = memtable.take()
        database = nil
        let database = try directory.open()
        if database.meta.isCheckpointing { crashesInCheckpoints += 1 }
        let checkpointed = database.meta.checkpointed
        #expect(checkpointed == Self.position(Int(checkpointed.number)))
        added = Int(checkpointed.number)
        self.database = database
        if !database.meta.isCheckpointing { try compare(added) }
        try database.verify()
    }

    private func compare(_ number: Int) throws {
        guard let database, !database.meta.isCheckpointing else { return }
        let evicted = source.evicted
        var found = try StateModel(database).without(evicted)
        var expected = models[number].without(evicted)
        #expect(found.highestID >= expected.highestID)
        #expect(found.highestRevision >= expected.highestRevision)
        found.highestID = expected.highestID
        expected.highestRevision = found.highestRevision
        #expect(found == expected, "seed \(seed), record \(number)")
        #expect(database.meta.checkpointed == Self.position(number))
    }

    private static func position(_ number: Int) -> JournalPosition {
        number == 0
            ? .start
            : JournalPosition(number: UInt64(number), hash: UInt64(number) &* 0xABCD_EF01)
    }
}

/// Accounts, sessions and marks between the log and their tables.
@Suite struct AccountCheckpointTests {
    private let directory: DataDirectory
    private let database: StateDatabase

    init() throws { (directory, database) = try DataDirectory.created() }

    private static let account = AccountRow(
        id: 1,
        email: "a@example.org",
        displayName: "A",
        passwordHash: "$argon2id$",
        createTimeMilliseconds: 5
    )

    private static func session(
        _ number: UInt64,
        expiring time: Int64 = 100,
        generation: UInt64 = 0
    ) -> SessionRow {
        SessionRow(
            tokenHash: TokenHash(number, 2, 3, 4),
            userID: 1,
            expireTimeMilliseconds: time,
            generation: generation
        )
    }

    /// The sessions that a new directory has after checkpoints of these entries, one for each list.
    private static func sessions(_ checkpoints: [[LogEntry]]) throws -> Set<UInt64> {
        let directory = try DataDirectory()
        let database = try directory.create()
        for entries in [[.account(account)]] + checkpoints {
            try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
        }
        try database.verify()
        let found = try StateModel(database).viewers
        #expect(found.accounts == [1: account])
        return Set(found.sessions.keys.map(\.word0))
    }

    @Test func theEndOfASessionIsFinalWhereverItStands() throws {
        let begin = LogEntry.session(Self.session(1))
        let renewal = LogEntry.session(Self.session(1, expiring: 200))
        let end = LogEntry.sessionEnded(Self.session(1).tokenHash)
        #expect(try Self.sessions([[end, begin, renewal]]).isEmpty)
        #expect(try Self.sessions([[begin], [end, renewal]]).isEmpty)
        #expect(try Self.sessions([[begin, renewal], [end]]).isEmpty)
    }

    @Test func theLatestExpiryStands() throws {
        let rows = [Self.session(1, expiring: 300), Self.session(1, expiring: 200)]
        for row in rows {
            try StateFixture.checkpoint([StateFixture.body([.session(row)])], into: database)
        }
        #expect(
            try StateModel(database).viewers.sessions.values.map(\.expireTimeMilliseconds) == [300]
        )
    }

    @Test func aNewGenerationEndsTheSessionsBelowIt() throws {
        let end = LogEntry.sessionsEnded(userID: 1, generation: 1)
        let (old, new) = (Self.session(1), Self.session(2, generation: 1))
        #expect(try Self.sessions([[.session(old)], [.session(new), end]]) == [2])
        #expect(try Self.sessions([[end, .session(old), .session(new)]]) == [2])
    }

    /// Each order within a checkpoint, and a checkpoint that is written again.
    @Test func theLatestVersionOfAnAccountStands() throws {
        var (second, third) = (Self.account, Self.account)
        (second.version, second.email) = (1, "b@example.org")
        (third.version, third.passwordHash, third.status) = (2, "$other$", .suspended)
        let entries = [Self.account, second, third].map { LogEntry.account($0) }
        for checkpoints in [[entries], [entries.reversed()], [[entries[2]], [entries[1]]]] {
            let directory = try DataDirectory()
            var database = try directory.create()
            for entries in checkpoints {
                try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
            }
            database = try directory.reopen(&database)
            try database.verify()
            #expect(try StateModel(database).viewers.accounts == [1: third])
        }
    }

    /// Neither in rows, nor in free pages, nor in SQLite's log, where earlier checkpoints were.
    @Test func aDeletedAccountsTextsLeaveTheFiles() throws {
        let directory = try DataDirectory()
        var work = CheckpointWork(try directory.create(), checkpointByteCount: 1)
        var number: UInt64 = 0
        func checkpoint(_ entries: [LogEntry]) throws {
            number += 1
            let position = JournalPosition(number: number, hash: number)
            try work.add(StateFixture.body(entries), at: position)
            work.begin()
            while work.isCheckpointing { try work.writeStep { false } }
        }
        let marks = ["gone@example.org", "Gone Person", "$gone$", "Gone title", "Gone text"]
        func found() throws -> [String] {
            var bytes: [UInt8] = []
            for name in ["state.db", "state.db-wal"] {
                guard let file = try directory.files.open(name) else { continue }
                bytes += try file.read(0..<file.byteCount())
            }
            let text = String(decoding: bytes, as: Unicode.ASCII.self)
            return marks.filter { text.contains($0) }
        }
        var gone = Self.account
        (gone.email, gone.displayName, gone.passwordHash) = (marks[0], marks[1], marks[2])
        var content = PostContent(authorID: gone.id, authorName: marks[1], title: marks[3])
        content.text = String(repeating: marks[4], count: 2_000)
        let post = StateFixture.post(1, revision: 1, content: content)
        try checkpoint([.account(gone), post])
        for id in 2..<40 as Range<UInt64> {
            var other = Self.account
            (other.id, other.email) = (id, "\(id)@example.org")
            try checkpoint([.account(other)])
        }
        #expect(try found() == marks)
        #expect(work.erasedRecord == 0)
        (gone.email, gone.displayName, gone.passwordHash) = ("", "", "")
        (gone.version, gone.status) = (1, .erasedPosts)
        try checkpoint([.deletion(PostID(rawValue: 1), revision: 2), .account(gone)])
        #expect(try found() == [])
        #expect(work.erasedRecord == number)
    }

    @Test func aResetIsKeptAsOne() throws {
        var reset = Self.session(7)
        reset.kind = .passwordReset
        let entries: [LogEntry] = [.account(Self.account), .session(reset)]
        try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
        #expect(try StateModel(database).viewers.sessions == [reset.tokenHash: reset])
    }

    /// What a start hands over is what the rows and the records after them came to.
    @Test func aStartJoinsRowsAndRecords() throws {
        let entries: [LogEntry] = [
            .account(Self.account), .session(Self.session(1)), .session(Self.session(2)),
        ]
        try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
        let accounts = AccountsRecovery()
        let store = FeedStore(stripeCount: 1) { 0 }
        try database.load(into: store, accounts: accounts, channels: { _, _ in })
        #expect(accounts.state.accounts == [Self.account])
        #expect(Set(accounts.state.sessions.map(\.tokenHash.word0)) == [1, 2])
        let hash = accounts.state.stateHash
        let empty = AccountsState().stateHash
        #expect(hash != 0 && empty == 0)
    }

    /// More marks than fit into a row, by several viewers; then most are taken back.
    @Test func marksAreKeptHoweverMany() throws {
        var model = ViewerModel()
        var revision: UInt64 = 0
        func checkpoint(_ posts: [UInt64], _ marks: MarkSet) throws {
            let entries = posts.flatMap { post in
                (0..<3 as Range<UInt32>).map { viewer in
                    revision += 1
                    return LogEntry.marks(
                        PostMarks(
                            viewer: VoterID(rawValue: viewer << 28),
                            post: PostID(rawValue: post),
                            marks: marks,
                            revision: revision
                        )
                    )
                }
            }
            for entry in entries { model.apply(entry) }
            try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
            #expect(try StateModel(database).viewers == model)
        }
        try checkpoint(Array(1...3_000), .read)
        try checkpoint([5, 1_023, 1_024, 9_999_999], [.unread, .dismissed])
        try checkpoint((1...3_000).filter { $0 % 50 != 0 }, [])
        try database.verify()
        #expect(database.meta.highestRevision == revision)
    }

    /// A checkpoint that was cut off leaves newer marks, which older records do not replace.
    @Test func olderMarksDoNotReplaceNewerOnes() throws {
        func entry(_ marks: MarkSet, _ revision: UInt64) -> LogEntry {
            .marks(
                PostMarks(
                    viewer: VoterID(rawValue: 0),
                    post: PostID(rawValue: 1),
                    marks: marks,
                    revision: revision
                )
            )
        }
        try StateFixture.checkpoint([StateFixture.body([entry(.dismissed, 9)])], into: database)
        try StateFixture.checkpoint([StateFixture.body([entry(.read, 5)])], into: database)
        #expect(try StateModel(database).viewers.marks.values.map(\.marks) == [.dismissed])
    }
}
