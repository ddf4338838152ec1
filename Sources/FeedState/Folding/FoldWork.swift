package import FeedJournal
internal import FeedRanking
internal import FeedSQLite

/// What is folded, and how far that is: belongs to the thread that folds.
///
/// `Sendable` so that a start can give it to that thread, and uses it no more.
package struct FoldWork: ~Copyable, @unchecked Sendable {
    /// The bytes of cuts that are written by one checkpoint at most, in times of those that are
    /// written at once: more makes a post that many vote on cheaper, and moves `folded` later.
    static let largestFactor = 2
    /// The memory that what was gathered takes at most, in times of the same.
    static let tableFactor = 4
    /// What these are times of at least: tests fold after a few bytes.
    static let minimumFoldByteCount = 1 << 20

    /// After how long a slice that found the disk full is tried again.
    static let stallTime = Duration.seconds(1)

    /// The state as of its folded position.
    package let database: StateDatabase
    /// How many bytes of cuts are folded at once where no time is left for less.
    let foldByteCount: Int
    /// What was gathered since the last fold began.
    var table = FoldTable()
    /// The bytes of the cuts that this was of.
    package private(set) var gatheredByteCount = 0
    /// What is being written.
    private var fold: Fold?
    private var foldedByteCount = 0
    /// The bytes of them that are written, as far as ``goOn()`` has said.
    private var writtenByteCount = 0
    /// How long slices work.
    private var pace = SlicePace()
    /// Why the last slice was not written: the disk is full.
    package private(set) var stall: StateError?
    private var stalledSince = ContinuousClock.now
    /// When the first cut of the table, and the latest, came.
    private var firstCut: ContinuousClock.Instant?
    private var lastCut = ContinuousClock.now

    /// Nothing gathered yet.
    package init(_ database: StateDatabase, foldByteCount: Int) {
        self.database = database
        self.foldByteCount = foldByteCount
    }

    /// Whether a fold has begun and not ended.
    package var isFolding: Bool { fold != nil }

    /// Whether a slice is to be written now: not right after one that found the disk full.
    func canGoOn(at now: ContinuousClock.Instant) -> Bool {
        guard fold != nil else { return false }
        return stall == nil || stalledSince.duration(to: now) >= Self.stallTime
    }

    /// Takes a cut that is durable.
    package mutating func gather(
        _ body: [UInt8],
        at position: JournalPosition
    ) throws(StateStartError) {
        do throws(EffectError) {
            try table.gather(body, at: position)
        } catch {
            throw .effects(sequence: position.sequence, error)
        }
        countRecord(body.count)
    }

    private mutating func countRecord(_ byteCount: Int) {
        gatheredByteCount += byteCount
        lastCut = .now
        firstCut = firstCut ?? lastCut
    }

    /// Whether no more should be gathered before a checkpoint begins: it is to be of a bounded amount,
    /// so that segments are given back while the rest waits, and of bounded memory.
    package var isFull: Bool {
        let unit = max(Self.minimumFoldByteCount, foldByteCount)
        return gatheredByteCount >= Self.largestFactor * unit
            || table.byteCount >= Self.tableFactor * unit
    }

    /// Whether what was gathered should be written now.
    func isDue(at now: ContinuousClock.Instant, atOnce: Bool) -> Bool {
        guard !table.isEmpty else { return false }
        guard !atOnce, gatheredByteCount < foldByteCount, !isFull else { return true }
        return lastCut.duration(to: now) >= FoldThread.quietTime
            || (firstCut ?? now).duration(to: now) >= FoldThread.longestWait
    }

    /// Begins to write what was gathered.
    package mutating func begin() {
        var gathered = FoldTable()
        swap(&gathered, &table)
        foldedByteCount = gatheredByteCount
        writtenByteCount = 0
        gatheredByteCount = 0
        firstCut = nil
        fold = Fold(gathered, into: database)
    }

    /// Writes a slice; gives the bytes of cuts that are written now, in proportion to their changes.
    mutating func goOn() throws(StateStartError) -> Int {
        var deadline = ContinuousClock.now + pace.workTime
        var pauses = Pauses()
        let written = try goOn {
            let now = ContinuousClock.now
            // Each slice ends with a sync: there should not be more of them where cores are taken.
            deadline += pauses.pauseIfDue(at: now)
            return now >= deadline
        }
        if stall == nil { pace.observe(commit: database.lastCommitTime) }
        return written
    }

    /// Writes a slice of at most so many changes, which ends where `isDue` says so.
    @discardableResult
    package mutating func goOn(
        changes limit: Int = .max,
        until isDue: () -> Bool
    ) throws(StateStartError) -> Int {
        guard let fold else { return 0 }
        let isDone: Bool
        do throws(StateError) {
            isDone = try fold.step(
                changes: limit,
                bytes: SlicePace.maximumByteCount,
                until: isDue
            )
            stall = nil
        } catch {
            guard case .database(.full) = error else { throw .state(error) }
            // The slice is undone, and the journal still has all of it: tried again later.
            stall = error
            stalledSince = .now
            return 0
        }
        let before = writtenByteCount
        writtenByteCount =
            isDone ? foldedByteCount : Int(Double(foldedByteCount) * fold.writtenShare)
        if isDone { self.fold = nil }
        return writtenByteCount - before
    }
}

/// What a start replays is gathered for its first fold.
extension FoldWork: ReplayedRecords {
    var newestCounts: CountsTable { table.counts }

    mutating func gather(_ counts: [PostCounts]) { table.gather(counts) }

    mutating func gather(_ effect: Effect) { table.gather(effect) }

    mutating func endRecord(_ byteCount: Int, at position: JournalPosition) {
        table.endRecord(at: position)
        countRecord(byteCount)
    }
}
