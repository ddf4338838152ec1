import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct CheckpointThreadTests {
    /// The body of a commit batch of about a megabyte, with posts of its own.
    private static func megabyte(_ number: UInt64) -> [UInt8] {
        let text = String(repeating: "x", count: 10_000)
        let entries = (0..<100).map { index -> LogEntry in
            let id = number * 100 + UInt64(index) + 1
            guard case .post(var post) = StateFixture.post(id, revision: id) else {
                preconditionFailure("The fixture is a post.")
            }
            post.content.text = text
            return .post(post)
        }
        return StateFixture.body(entries)
    }

    private static func position(_ number: UInt64) -> JournalPosition {
        JournalPosition(number: number, hash: number &* 31)
    }

    private static func thread(
        of database: StateDatabase,
        pauseHooks: PauseHooks = PauseHooks(),
        failed: @escaping @Sendable (StorageError) -> Void,
        news: @escaping @Sendable (CheckpointNews) -> Void = { _ in }
    ) -> CheckpointThread {
        let backups = Backups(BackupOptions(), reservedByteCount: 0) { _ in }
        let work = CheckpointWork(database, checkpointByteCount: 1 << 20, pauseHooks: pauseHooks)
        // A stop checkpoints all, however busy the machine is.
        return CheckpointThread(
            work,
            backups,
            longestStop: .seconds(600),
            failed: failed,
            news: news
        )
    }

    @Test func aLongBacklogIsCheckpointedAPieceAtATimeSoThatSegmentsCanGo() throws {
        let directory = try DataDirectory()
        let gate = SyncGate()
        let database = try directory.create(vfs: gate.name)
        let thread = Self.thread(of: database) { _ in }
        for number in 0..<8 as Range<UInt64> {
            _ = thread.submit(Self.megabyte(number), at: Self.position(number + 1))
        }
        #expect(thread.backlog.share > 1)
        // On the checkpoint thread, before each sync: the records that could be forgotten by then.
        let seen = Locked<Set<UInt64>>([])
        gate.onSync { seen.withLock { _ = $0.insert(thread.checkpointedRecord) } }
        try thread.start()
        thread.stop()
        gate.onSync {}
        #expect(thread.checkpointedRecord == 8)
        #expect(thread.backlog.pendingByteCount == 0)
        let between = seen.withLock { $0 }.subtracting([0, 8])
        #expect(between.count >= 2, "\(between)")
        try database.verify()
    }

    @Test func batchesAreTakenHoweverLongTheDiskStandsStill() throws {
        let directory = try DataDirectory()
        let gate = SyncGate()
        let database = try directory.create(vfs: gate.name)
        let thread = Self.thread(of: database) { _ in }
        gate.close()
        try thread.start()
        _ = thread.submit(Self.megabyte(0), at: Self.position(1))
        _ = thread.submit(Self.megabyte(1), at: Self.position(2))
        gate.awaitSync()
        // This returns at once; it is the journal's thread that calls.
        for number in 2..<12 as Range<UInt64> {
            _ = thread.submit(Self.megabyte(number), at: Self.position(number + 1))
        }
        #expect(thread.checkpointedRecord == 0)
        #expect(thread.backlog.share > 2)
        #expect(thread.statistics.timeUnderWay > .zero)
        // A thread that goes on does so a few times a second.
        while let time = thread.statistics.standingTime, time < .seconds(1) {}
        #expect(thread.statistics.standingTime != nil)
        gate.open()
        thread.stop()
        #expect(thread.checkpointedRecord == 12)
        #expect(thread.backlog.writtenByteCount > 12 * 1_000_000)
        #expect(thread.statistics.timeUnderWay == .zero)
        #expect(thread.statistics.standingTime == nil)
        #expect(thread.statistics.longestStepMicroseconds > 0)
    }

    @Test func theMemtableIsBoundedInBytesAndInMemory() throws {
        let directory = try DataDirectory()
        var work = CheckpointWork(try directory.create(), checkpointByteCount: 1 << 20)
        var number: UInt64 = 0
        while !work.isFull {
            number += 1
            try work.add(Self.megabyte(number), at: Self.position(number))
        }
        let added = work.addedByteCount
        #expect(added <= 3 << 20)
        // Votes on posts that are far apart: few bytes of the journal, many of memory.
        var votes = CheckpointWork(try DataDirectory().create(), checkpointByteCount: 1 << 20)
        var revision: UInt64 = 0
        while !votes.isFull {
            let entries = (0..<1_000).map { _ -> LogEntry in
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
            try votes.add(StateFixture.body(entries), at: Self.position(revision))
        }
        #expect(votes.addedByteCount < 2 << 20)
    }

    private struct PauseMoment {
        /// The share of the backlog that waited.
        let share: Double
        /// Whether a checkpoint was being written; otherwise commit batches were being added.
        let isWriting: Bool
    }

    /// The pauses of a thread for which so many megabytes wait at its start, and more come while it
    /// pauses first.
    private static func pauses(
        megabytes count: UInt64,
        later laterCount: UInt64 = 0
    ) throws -> [PauseMoment] {
        let directory = try DataDirectory()
        let thread = Locked<CheckpointThread?>(nil)
        let moments = Locked<[PauseMoment]>([])
        let start = ContinuousClock.now
        let lookCount = Locked(0)
        var hooks = PauseHooks()
        // A pause is due at each look at the clock.
        hooks.now = {
            lookCount.withLock { count in
                count += 1
                return start + .milliseconds(count)
            }
        }
        hooks.yield = {
            guard let thread = thread.withLock({ $0 }) else { return }
            let moment = PauseMoment(
                share: thread.backlog.share,
                isWriting: thread.statistics.timeUnderWay > .zero
            )
            let isFirst = moments.withLock {
                $0.append(moment)
                return $0.count == 1
            }
            guard isFirst else { return }
            for number in count..<count + laterCount {
                _ = thread.submit(Self.megabyte(number), at: Self.position(number + 1))
            }
        }
        let checkpoints = Self.thread(of: try directory.create(), pauseHooks: hooks) { _ in }
        thread.withLock { $0 = checkpoints }
        defer { thread.withLock { $0 = nil } }
        for number in 0..<count {
            _ = checkpoints.submit(Self.megabyte(number), at: Self.position(number + 1))
        }
        try checkpoints.start()
        checkpoints.stop()
        #expect(checkpoints.checkpointedRecord == count + laterCount)
        return moments.withLock { $0 }
    }

    @Test func checkpointsThatLagDoNotPause() throws {
        let limit = CheckpointThread.pauselessShare
        let late = try Self.pauses(megabytes: 8).filter { $0.share >= limit }
        #expect(late.isEmpty, "\(late)")
    }

    /// The thread looks before each pause, and not once before it empties its queue.
    @Test func checkpointsThatBeginToLagPauseNoMore() throws {
        let limit = CheckpointThread.pauselessShare
        let pauses = try Self.pauses(megabytes: 1, later: 8)
        #expect(!pauses.isEmpty)
        let late = pauses.filter { $0.share >= limit }
        #expect(late.isEmpty, "\(late)")
    }

    @Test func checkpointsThatKeepUpPause() throws {
        let pauses = try Self.pauses(megabytes: 1)
        #expect(pauses.contains { $0.isWriting } && pauses.contains { !$0.isWriting }, "\(pauses)")
    }

    /// SQLite takes a quota that is used up for a broken disk.
    @Test(arguments: [ENOSPC, EDQUOT])
    func aCheckpointWithoutRoomWaitsAndContinues(code: Int32) throws {
        let disk = FakeDisk()
        let database = try StateDatabase.create(on: disk)
        var work = CheckpointWork(database, checkpointByteCount: 1 << 20)
        try work.add(Self.megabyte(0), at: Self.position(1))
        work.begin()
        disk.failure = { call, name in
            call == .write && name.hasPrefix("state.db") ? code : nil
        }
        try work.writeStep(until: { false })
        guard work.stall?.sqlite?.kind == .full else {
            throw Unexpected("\(work.stall.map(String.init(describing:)) ?? "no stall")")
        }
        let isCheckpointing = work.isCheckpointing
        #expect(isCheckpointing && database.meta.checkpointed.number == 0)
        disk.failure = { _, _ in nil }
        try work.writeStep(until: { false })
        #expect(work.stall == nil)
        while work.isCheckpointing { try work.writeStep(until: { false }) }
        #expect(database.meta.checkpointed.number == 1)
        try database.verify()
    }

    @Test func aStalledCheckpointIsToldOfAndItsEndToo() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try database.limitPages(to: 1)
        let stalls = Locked<[CheckpointNews]>([])
        let thread = Self.thread(of: database) { _ in
        } news: { news in
            stalls.withLock { $0.append(news) }
        }
        _ = thread.submit(Self.megabyte(0), at: Self.position(1))
        try thread.start()
        thread.stop()
        #expect(thread.statistics.isStalled)
        let told = stalls.withLock { $0 }
        guard case .stalled(let error) = told.first, error.sqlite?.kind == .full else {
            throw Unexpected(told)
        }
        #expect(told.count == 1)
    }
}

@Suite struct CommitBatchQueueTests {
    private static func position(_ number: UInt64) -> JournalPosition {
        JournalPosition(number: number, hash: number &* 31)
    }

    @Test func commitBatchesAreTakenOnceAndInTheirOrder() {
        let queue = CommitBatchQueue()
        var taken = TakenBatches()
        #expect(!queue.take(into: &taken) && taken.isEmpty)
        for number in 1...3 as ClosedRange<UInt64> {
            _ = queue.submit([UInt8(number)], at: Self.position(number))
        }
        #expect(queue.take(into: &taken))
        // What comes meanwhile waits for the next look.
        _ = queue.submit([4], at: Self.position(4))
        var numbers: [UInt64] = []
        while !taken.isEmpty {
            let commitBatch = taken.removeFirst()
            #expect(commitBatch.body == [UInt8(commitBatch.position.number)])
            numbers.append(commitBatch.position.number)
        }
        // The queue's array has no second reference to a body, which would be copied to be changed.
        #expect(taken.commitBatches.allSatisfy { $0.body.isEmpty })
        #expect(numbers == [1, 2, 3])
        #expect(queue.take(into: &taken))
        #expect(taken.removeFirst().position == Self.position(4))
        #expect(taken.isEmpty && !queue.take(into: &taken))
    }

    @Test func theTakerIsWokenOnceForEachTimeThatManyBytesWait() {
        let queue = CommitBatchQueue()
        var taken = TakenBatches()
        let half = [UInt8](repeating: 0, count: CommitBatchQueue.wakingByteCount / 2)
        for _ in 1...2 {
            #expect(!queue.submit(half, at: Self.position(1)).isToWake)
            #expect(queue.submit(half, at: Self.position(2)).isToWake)
            #expect(!queue.submit(half, at: Self.position(3)).isToWake)
            #expect(queue.take(into: &taken))
        }
    }

    @Test func forgottenChannelsAreTakenWithTheCommitBatchesBeforeThem() {
        let queue = CommitBatchQueue()
        var taken = TakenBatches()
        queue.deleteRows(ofChannels: [7])
        queue.deleteRows(ofChannels: [8, 9])
        #expect(queue.take(into: &taken))
        #expect(taken.isEmpty && taken.forgottenChannels == [7, 8, 9])
        // Each take swaps the arrays of the two sides, so only the second take shows an array again
        // that was not emptied.
        for _ in 1...2 {
            #expect(!queue.take(into: &taken))
            #expect(taken.forgottenChannels == [])
        }
    }

    @Test func theMemoryOfSmallBodiesComesBack() {
        let queue = CommitBatchQueue()
        var taken = TakenBatches()
        #expect(queue.submit([1], at: Self.position(1)).spare.capacity == 0)
        _ = queue.take(into: &taken)
        var small: [UInt8] = []
        small.reserveCapacity(1000)
        var large: [UInt8] = []
        large.reserveCapacity(CommitBatchQueue.spareByteCount + 1)
        taken.reuse(small)
        taken.reuse(large)
        _ = taken.removeFirst()
        _ = queue.take(into: &taken)
        let spare = queue.submit([2], at: Self.position(2)).spare
        #expect(spare.capacity >= 1000 && spare.capacity <= CommitBatchQueue.spareByteCount)
        #expect(queue.submit([3], at: Self.position(3)).spare.capacity == 0)
    }

    @Test func noMoreBodiesAreKeptThanTheLimit() {
        let queue = CommitBatchQueue()
        var taken = TakenBatches()
        var body: [UInt8] = []
        body.reserveCapacity(1000)
        // Those of two looks, of which the queue keeps as many as of one.
        for _ in 1...2 {
            for _ in 0...CommitBatchQueue.spareCount { taken.reuse(body) }
            #expect(taken.spares.count == CommitBatchQueue.spareCount)
            _ = queue.take(into: &taken)
            #expect(taken.spares.isEmpty)
        }
        var count = 0
        while queue.submit([], at: Self.position(1)).spare.capacity > 0 { count += 1 }
        #expect(count == CommitBatchQueue.spareCount)
    }
}
