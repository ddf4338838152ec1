package import FeedJournal
internal import FeedRanking
internal import FeedSQLite

/// What is folded, and how far that is: belongs to the thread that folds.
///
/// `Sendable` so that a start can give it to that thread, and uses it no more.
package struct FoldWork: ~Copyable, @unchecked Sendable {
    /// How long a slice works, but for its sync: others wait for the disk meanwhile.
    static let sliceTime = Duration.milliseconds(5)

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
    /// Why the last slice was not written: the disk is full.
    private(set) var stall: StateError?
    private var stalledSince = ContinuousClock.now
    /// When the first cut of the table, and the latest, came.
    private var firstCut: ContinuousClock.Instant?
    private var lastCut = ContinuousClock.now

    /// Nothing gathered yet.
    init(_ database: StateDatabase, foldByteCount: Int) {
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

    /// Takes one effect of a record that is read elsewhere.
    mutating func gather(_ effect: Effect) { table.gather(effect) }

    /// All effects of that record were taken.
    mutating func endRecord(_ byteCount: Int, at position: JournalPosition) {
        table.endRecord(at: position)
        countRecord(byteCount)
    }

    private mutating func countRecord(_ byteCount: Int) {
        gatheredByteCount += byteCount
        lastCut = .now
        firstCut = firstCut ?? lastCut
    }

    /// Whether what was gathered should be written now.
    func isDue(at now: ContinuousClock.Instant, atOnce: Bool) -> Bool {
        guard !table.isEmpty else { return false }
        guard !atOnce, gatheredByteCount < foldByteCount else { return true }
        return lastCut.duration(to: now) >= FoldThread.quietTime
            || (firstCut ?? now).duration(to: now) >= FoldThread.longestWait
    }

    /// Begins to write what was gathered.
    package mutating func begin() {
        var gathered = FoldTable()
        swap(&gathered, &table)
        foldedByteCount = gatheredByteCount
        gatheredByteCount = 0
        firstCut = nil
        fold = Fold(gathered, into: database)
    }

    /// Writes a slice; gives the bytes of the fold's cuts where that was the last one.
    mutating func goOn() throws(StateStartError) -> Int? {
        var deadline = ContinuousClock.now + Self.sliceTime
        var pauses = Pauses()
        return try goOn {
            let now = ContinuousClock.now
            // Each slice ends with a sync: there should not be more of them where cores are taken.
            deadline += pauses.pauseIfDue(at: now)
            return now >= deadline
        }
    }

    /// Writes a slice of at most so many changes, which ends where `isDue` says so.
    package mutating func goOn(
        changes limit: Int = .max,
        until isDue: () -> Bool
    ) throws(StateStartError) -> Int? {
        guard let fold else { return nil }
        do throws(StateError) {
            let isDone = try fold.step(changes: limit, until: isDue)
            stall = nil
            guard isDone else { return nil }
        } catch {
            guard case .database(.full) = error else { throw .state(error) }
            // The slice is undone, and the journal still has all of it: tried again later.
            stall = error
            stalledSince = .now
            return nil
        }
        self.fold = nil
        return foldedByteCount
    }
}
