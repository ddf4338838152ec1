internal import FeedConcurrency
package import FeedJournal

/// What a commit thread does for its journal beside appending: it says what may be let in, watches the
/// disk's room, and lets go of segments that are checkpointed.
struct JournalUpkeep {
    /// How often the free space is looked at.
    static let spaceInterval = Duration.seconds(1)
    /// How often more is let in while checkpoints lag and nothing is committed.
    static let admissionInterval = Duration.milliseconds(5)

    let journal: any WatchedJournal
    var admission: ChangeAdmission
    private let progress: CommitProgress
    private let receiver: any CommitBatchReceiver
    private let events: CommitEvents
    private let keepsSegments: Bool
    private var lastSpaceCheck: ContinuousClock.Instant?
    private var hadBallast: Bool
    private var droppedSegmentCount = 0
    private var erasedRecord: UInt64 = 0

    init(_ parts: CommitParts, _ progress: CommitProgress) {
        journal = parts.journal.value
        admission = ChangeAdmission(maximumByteCount: parts.maximumWaitingByteCount)
        self.progress = progress
        receiver = parts.receiver
        events = parts.events
        keepsSegments = parts.keepsSegments
        hadBallast = parts.journal.value.hasBallast
    }

    /// Says how many bytes may wait for the next commit; true where checkpoints restrict it.
    ///
    /// The thread waits for checkpoints no longer than a commit may be put off: every answer is held
    /// behind its commits.
    @discardableResult
    mutating func admit(committing byteCount: Int) -> Bool {
        let (isRestricted, news) = admission.set(
            progress.gate,
            receiver.backlog,
            committing: byteCount,
            at: .now
        )
        if let news { events.checkpoints(news) }
        return isRestricted
    }

    mutating func forget() throws(StorageError) {
        let erased = receiver.erasedRecord
        if erased > erasedRecord { try journal.erase() }
        erasedRecord = erased
        guard !keepsSegments else { return }
        try journal.forget(through: receiver.checkpointedRecord)
    }

    mutating func checkSpaceIfDue() throws(StorageError) {
        let now = ContinuousClock.now
        if let last = lastSpaceCheck, last.duration(to: now) < Self.spaceInterval { return }
        lastSpaceCheck = now
        // What can go makes room; with nothing to commit, nobody else would look.
        try forget()
        let isWritable = try journal.checkSpace() == .writable
        let freeByteCount = try journal.freeByteCount()
        let writableByteCount = journal.writableByteCount
        let wasWritable = progress.noteSpace(
            isWritable: isWritable,
            freeByteCount: freeByteCount,
            writableByteCount: writableByteCount,
            fileByteCount: journal.fileByteCount
        )
        let hasBallast = journal.hasBallast
        if hadBallast, !hasBallast { events.space(.gaveUpBallast) }
        hadBallast = hasBallast
        let dropped = journal.droppedSegmentCount
        if dropped > droppedSegmentCount {
            events.space(.droppedSegments(count: dropped - droppedSegmentCount))
        }
        droppedSegmentCount = dropped
        guard wasWritable != isWritable else { return }
        events.space(
            isWritable
                ? .hasRoom(freeByteCount: freeByteCount)
                : .full(freeByteCount: freeByteCount, writableByteCount: writableByteCount)
        )
    }
}

/// What there is to say of the disk's room.
package enum SpaceNews: Equatable, Sendable {
    /// Changes are refused: so many bytes are free, and with so many they are taken again.
    case full(freeByteCount: Int, writableByteCount: Int)
    /// Changes are taken again, with so many bytes free.
    case hasRoom(freeByteCount: Int)
    /// Segments that were kept to restore a moment were removed before their time.
    case droppedSegments(count: Int)
    /// The ballast was given up, so that what was taken before can be written.
    case gaveUpBallast
}

/// A journal whose room is looked at, and which another thread may sync.
package protocol WatchedJournal: Journal {
    /// The bytes that were appended since the last mark.
    var unmarkedByteCount: Int { get }

    /// What another thread is to sync; nil where there is nothing, or a mark has not ended.
    func syncMark() throws(StorageError) -> SyncMark?

    /// A mark was synced.
    func noteSynced(_ mark: SyncMark) throws(StorageError)

    /// The sync of a mark has failed: nothing more is appended.
    func noteFailedSync(_ error: StorageError)

    /// Whether more may be let in; to be called every second or so.
    func checkSpace() throws(StorageError) -> SpaceWatch.Mode

    func freeByteCount() throws(StorageError) -> Int

    /// The free bytes from which on more may be let in again, once it may not.
    var writableByteCount: Int { get }

    /// Whether the file is there that is given up on a full disk.
    var hasBallast: Bool { get }

    var fileByteCount: Int { get }

    /// How many kept segments were removed before their time, as the disk ran low.
    var droppedSegmentCount: Int { get }
}

extension WatchedJournal {
    package var droppedSegmentCount: Int { 0 }
}

extension SegmentJournal: WatchedJournal {}
