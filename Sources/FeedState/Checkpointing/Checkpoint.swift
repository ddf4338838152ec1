import FeedConcurrency
package import FeedJournal
import HeapModule

/// Writes a memtable into `state.db`, a step at a time.
///
/// Each step is a database transaction. The last step moves `checkpointed` too. A crash between
/// steps leaves some posts newer than others, which does no harm: `checkpointed` has not moved, and
/// every record in the memtable is durable, so replay reaches at least to the checkpoint's target.
/// A log entry that is older than the row changes nothing. Until then `checkpointing` says how far
/// replay has to go. A step that fails, as on a full disk, is undone whole and may be tried again.
package final class Checkpoint {
    /// The record whose log entries are all in the tables after the last step.
    package let target: JournalPosition
    package private(set) var isDone = false
    private let database: StateDatabase
    /// The records of a cluster up to the target.
    private let chain: RecordChain
    private var memtable: Memtable
    /// Whether what it replaces is to leave the files, too.
    let erases: Bool
    /// Copied before a step, and restored where the step fails.
    private var cursor: CheckpointCursor
    private let changeCount: Int
    /// When it began, in Unix milliseconds: the time of the deletions that it writes.
    private let time: Int64

    var writtenShare: Double {
        isDone ? 1 : min(1, Double(cursor.writtenCount) / Double(max(1, changeCount)))
    }

    /// Begins to write a memtable, with nothing written yet, at a time or now.
    package init(
        _ memtable: consuming Memtable,
        into database: StateDatabase,
        _ chain: RecordChain? = nil,
        at time: Int64? = nil
    ) {
        self.chain = chain ?? database.meta.chain
        self.time = time ?? Int64(SystemClock.unixMicroseconds() / 1_000)
        target = memtable.position == .start ? database.meta.checkpointed : memtable.position
        precondition(
            target.number >= database.meta.checkpointed.number,
            "Records are checkpointed in their order."
        )
        memtable.close()
        cursor = CheckpointCursor(memtable)
        changeCount = memtable.changeCount
        erases = memtable.erases
        self.memtable = memtable
        self.database = database
    }

    /// Writes one step; returns whether it was the last.
    ///
    /// A step has at most so many changes. It ends once their rows have so many bytes or `isDue` says so, and
    /// has at least one change. Durable on return. O(log n) for each change.
    package func step(
        changes limit: Int = .max,
        bytes byteLimit: Int = .max,
        until isDue: () -> Bool = { false }
    ) throws(StorageError) -> Bool {
        guard !isDone else { return true }
        while !cursor.isReady || !memtable.ballots.isSorted {
            if cursor.isReady { memtable.sortBallots() } else { cursor.sortRun() }
            if isDue() { return false }
        }
        let before = cursor
        let meta = database.meta
        do {
            isDone = try database.writeStep { (writer) throws(StorageError) in
                var left = limit
                var isLast = false
                repeat {
                    isLast = try !writeNext(writer)
                    left -= 1
                } while !isLast && left > 0 && writer.byteCount < byteLimit && !isDue()
                try writer.flushChunk()
                let moved = moved(meta, isLast: isLast)
                if isLast {
                    let revision = moved.highestRevision
                    try writer.forgetDeletions(at: time, highestRevision: revision)
                }
                return (isLast, moved)
            }
        } catch {
            cursor = before
            throw error
        }
        return isDone
    }

    private func writeNext(_ writer: CheckpointWriter) throws(StorageError) -> Bool {
        guard let (part, number) = cursor.next() else { return false }
        try memtable.write(part, number, by: writer, at: time)
        cursor.writtenCount += 1
        return true
    }

    private func moved(_ old: StateMeta, isLast: Bool) -> StateMeta {
        var meta = old
        // An interrupted checkpoint may have reached further than this one does.
        if target.number > meta.checkpointing.number { meta.checkpointing = target }
        guard isLast else { return meta }
        meta.checkpointed = target
        meta.chain = chain
        meta.highestID = max(meta.highestID, memtable.highestID)
        meta.highestRevision = max(meta.highestRevision, memtable.highestRevision)
        meta.nextChannel = max(meta.nextChannel, memtable.nextChannel)
        return meta
    }
}

/// How far a checkpoint is: which changes of the memtable are still to be written.
///
/// A copy is cheap, as the numbers themselves are shared.
private struct CheckpointCursor {
    var writtenCount = 0
    private var runs: [SortedRuns] = []
    /// The part of which the next change is taken.
    private var part = 0

    init(_ memtable: borrowing Memtable) {
        for part in Memtable.Part.allCases {
            runs.append(SortedRuns(memtable.numbers(of: part)))
        }
    }

    /// Whether nothing is left to sort, so that ``next()`` may be called.
    var isReady: Bool { runs.allSatisfy(\.isReady) }

    mutating func sortRun() {
        guard let index = runs.firstIndex(where: { !$0.isReady }) else { return }
        runs[index].sortRun()
    }

    mutating func next() -> (part: Memtable.Part, number: UInt64)? {
        while part < runs.count, let kind = Memtable.Part(rawValue: part) {
            if let number = runs[part].next() { return (kind, number) }
            part += 1
        }
        return nil
    }
}

/// Numbers given out in their order, sorted a piece at a time, so that no call takes long.
///
/// Runs of 8192 are sorted one by one; then a heap of the runs' first numbers gives the least.
private struct SortedRuns {
    private static let runCount = 8_192

    /// The next number of a run, and its place.
    private struct First: Comparable {
        let number: UInt64
        let place: Int

        static func < (one: First, other: First) -> Bool { one.number < other.number }
    }

    private var numbers: [UInt64]
    /// Where the run that is sorted next begins; the count when all are.
    private var sorted = 0
    /// Of the runs that are sorted and not at their ends.
    private var firsts = Heap<First>()

    init(_ numbers: [UInt64]) {
        self.numbers = numbers
    }

    /// Whether all runs are sorted, so that ``next()`` may be called.
    var isReady: Bool { sorted == numbers.count }

    /// Sorts one run; O(1), some half a millisecond.
    mutating func sortRun() {
        guard !isReady else { return }
        let end = min(sorted + Self.runCount, numbers.count)
        numbers[sorted..<end].sort()
        firsts.insert(First(number: numbers[sorted], place: sorted))
        sorted = end
    }

    /// The least of the numbers that are left, nil when none is; O(log runs).
    mutating func next() -> UInt64? {
        guard let first = firsts.min else { return nil }
        let place = first.place + 1
        if place < numbers.count, place % Self.runCount != 0 {
            firsts.replaceMin(with: First(number: numbers[place], place: place))
        } else {
            firsts.removeMin()
        }
        return first.number
    }
}
