internal import FeedJournal
internal import FeedRanking

/// What is folded, and how far that is: belongs to the thread that folds.
struct FoldWork: ~Copyable {
    /// The state as of its folded position.
    let database: StateDatabase
    /// How many bytes of cuts are folded at once where no time is left for less.
    let foldByteCount: Int
    /// What was gathered since the last fold began.
    var table = FoldTable()
    /// The bytes of the cuts that this was of.
    private(set) var gatheredByteCount = 0
    /// What is being written.
    private var fold: Fold?
    private var foldedByteCount = 0
    /// When the first cut of the table, and the latest, came.
    private var firstCut: ContinuousClock.Instant?
    private var lastCut = ContinuousClock.now

    /// Nothing gathered yet.
    init(_ database: StateDatabase, foldByteCount: Int) {
        self.database = database
        self.foldByteCount = foldByteCount
    }

    /// Whether a fold has begun and not ended.
    var isFolding: Bool { fold != nil }

    /// Takes a cut that is durable.
    mutating func gather(
        _ body: [UInt8],
        at position: JournalPosition
    ) throws(StateStartError) {
        do throws(EffectError) {
            try table.gather(body, at: position)
        } catch {
            throw .effects(sequence: position.sequence, error)
        }
        gatheredByteCount += body.count
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
    mutating func begin() throws(StateStartError) {
        var gathered = FoldTable()
        swap(&gathered, &table)
        foldedByteCount = gatheredByteCount
        gatheredByteCount = 0
        firstCut = nil
        do throws(StateError) {
            fold = try Fold(gathered, into: database)
        } catch {
            throw .state(error)
        }
    }

    /// Writes a slice; gives the bytes of the fold's cuts where that was the last one.
    mutating func goOn() throws(StateStartError) -> Int? {
        do throws(StateError) {
            guard try fold?.step() == true else { return nil }
        } catch {
            throw .state(error)
        }
        fold = nil
        return foldedByteCount
    }
}
