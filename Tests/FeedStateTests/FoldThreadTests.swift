import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1))) struct FoldThreadTests {
    /// The body of a cut of about a megabyte, with posts of its own.
    private static func megabyte(_ number: UInt64) -> [UInt8] {
        let text = String(repeating: "x", count: 10_000)
        let effects = (0..<100).map { index -> Effect in
            let id = number * 100 + UInt64(index) + 1
            guard case .post(var post) = StateFixture.post(id, revision: id) else {
                preconditionFailure("The fixture is a post.")
            }
            post.content.text = text
            return .post(post)
        }
        return StateFixture.body(effects)
    }

    private static func position(_ sequence: UInt64) -> JournalPosition {
        JournalPosition(sequence: sequence, hash: sequence &* 31)
    }

    private static func thread(
        of database: StateDatabase,
        failed: @escaping @Sendable (StateStartError) -> Void,
        news: @escaping @Sendable (CheckpointNews) -> Void = { _ in }
    ) -> FoldThread {
        let backups = Backups(BackupOptions(), reservedByteCount: 0) { _ in }
        let work = FoldWork(database, foldByteCount: 1 << 20)
        // A stop folds all, however busy the machine is.
        return FoldThread(work, backups, longestStop: .seconds(600), failed: failed, news: news)
    }

    @Test func aLongBacklogIsFoldedAPieceAtATimeSoThatSegmentsCanGo() throws {
        let directory = try DataDirectory()
        let gate = SyncGate()
        let database = try StateDatabase.create(
            directory: directory.path,
            files: directory.files,
            vfs: gate.name
        )
        let thread = Self.thread(of: database) { _ in }
        for number in 0..<8 as Range<UInt64> {
            _ = thread.submit(Self.megabyte(number), at: Self.position(number + 1))
        }
        #expect(thread.backlog.share > 1)
        // On the folding thread, before each sync: what could be forgotten by then.
        let seen = Locked<Set<UInt64>>([])
        gate.onSync { seen.withLock { _ = $0.insert(thread.foldedSequence) } }
        thread.start()
        thread.stop()
        gate.onSync {}
        #expect(thread.foldedSequence == 8)
        #expect(thread.backlog.unfoldedByteCount == 0)
        let between = seen.withLock { $0 }.subtracting([0, 8])
        #expect(between.count >= 2, "\(between)")
        try database.verify()
    }

    @Test func cutsAreTakenHoweverLongTheDiskStandsStill() throws {
        let directory = try DataDirectory()
        let gate = SyncGate()
        let database = try StateDatabase.create(
            directory: directory.path,
            files: directory.files,
            vfs: gate.name
        )
        let thread = Self.thread(of: database) { _ in }
        gate.close()
        thread.start()
        _ = thread.submit(Self.megabyte(0), at: Self.position(1))
        _ = thread.submit(Self.megabyte(1), at: Self.position(2))
        gate.awaitSync()
        // This returns at once; it is the journal's thread that calls.
        for number in 2..<12 as Range<UInt64> {
            _ = thread.submit(Self.megabyte(number), at: Self.position(number + 1))
        }
        #expect(thread.foldedSequence == 0)
        #expect(thread.backlog.share > 2)
        #expect(thread.statistics.timeUnderWay > .zero)
        gate.open()
        thread.stop()
        #expect(thread.foldedSequence == 12)
        #expect(thread.backlog.writtenByteCount > 12 * 1_000_000)
        #expect(thread.statistics.timeUnderWay == .zero)
        #expect(thread.statistics.longestSliceMicroseconds > 0)
    }

    @Test func whatIsGatheredIsBoundedInBytesAndInMemory() throws {
        let directory = try DataDirectory()
        var work = FoldWork(try directory.create(), foldByteCount: 1 << 20)
        var sequence: UInt64 = 0
        while !work.isFull {
            sequence += 1
            try work.gather(Self.megabyte(sequence), at: Self.position(sequence))
        }
        let gathered = work.gatheredByteCount
        #expect(gathered <= 3 << 20)
        // Votes on posts that are far apart: few bytes of the journal, many of memory.
        var votes = FoldWork(try DataDirectory().create(), foldByteCount: 1 << 20)
        var revision: UInt64 = 0
        while !votes.isFull {
            let effects = (0..<1_000).map { _ -> Effect in
                revision += 1
                return .counts(
                    PostCounts(
                        id: PostID(rawValue: revision),
                        upvoteCount: 1,
                        downvoteCount: 0,
                        revision: revision
                    )
                )
            }
            try votes.gather(StateFixture.body(effects), at: Self.position(revision))
        }
        #expect(votes.gatheredByteCount < 2 << 20)
    }

    /// SQLite takes a quota that is used up for a broken disk.
    @Test(arguments: [ENOSPC, EDQUOT])
    func aFoldWithoutRoomWaitsAndGoesOn(code: Int32) throws {
        let disk = FakeDisk()
        let database = try StateDatabase.create(
            directory: ".",
            files: disk,
            vfs: disk.databaseDiskName
        )
        var work = FoldWork(database, foldByteCount: 1 << 20)
        try work.gather(Self.megabyte(0), at: Self.position(1))
        work.begin()
        disk.failure = { call, name in
            call == .write && name.hasPrefix("state.db") ? code : nil
        }
        try work.goOn(until: { false })
        guard case .database(.full) = work.stall else {
            Issue.record("\(work.stall.map(String.init(describing:)) ?? "no stall")")
            return
        }
        let isFolding = work.isFolding
        #expect(isFolding && database.meta.folded.sequence == 0)
        disk.failure = { _, _ in nil }
        try work.goOn(until: { false })
        #expect(work.stall == nil)
        while work.isFolding { try work.goOn(until: { false }) }
        #expect(database.meta.folded.sequence == 1)
        try database.verify()
    }

    @Test func aStalledFoldIsToldOfAndItsEndToo() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try database.limitPages(to: 1)
        let stalls = Locked<[CheckpointNews]>([])
        let thread = Self.thread(of: database) { _ in
        } news: { news in
            stalls.withLock { $0.append(news) }
        }
        _ = thread.submit(Self.megabyte(0), at: Self.position(1))
        thread.start()
        thread.stop()
        #expect(thread.statistics.isStalled)
        let told = stalls.withLock { $0 }
        guard case .stalled(.database(.full)) = told.first else {
            Issue.record("\(told)")
            return
        }
        #expect(told.count == 1)
    }
}
