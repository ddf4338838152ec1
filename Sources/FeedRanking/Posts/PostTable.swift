internal import CPrefetch
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The posts of a stripe by slot: a directory of segments, whose records are used piece by piece.
///
/// Two loads find a post, without a hash. The memory of a piece is given back when all of its posts
/// are deleted.
@safe
package struct PostTable: ~Copyable {
    /// A piece has 2 to the power of this many slots.
    static let pieceBits = 10
    private static let pieceSlotCount = 1 << pieceBits
    private static let pieceByteCount = pieceSlotCount * MemoryLayout<PostRecord>.stride

    /// The addresses of the records, also for threads without the lock.
    let directory = RecordDirectory()
    /// The posts that live in each piece that has been used.
    private var liveCounts = Slab<UInt32>()
    /// The title of the place that a probe key stands for.
    private var probeTitle = Slab<UInt8>()
    package private(set) var count = 0

    package init() {}

    deinit {
        forEachSlot { self[$0].content.free() }
        directory.free(slotLimit: slotLimit)
    }

    /// No slot from here on has ever been used.
    package var slotLimit: Int { @inline(__always) get { liveCounts.count << Self.pieceBits } }

    /// Whether a post lives in the slot; any slot may be asked for.
    @inline(__always)
    package func contains(_ slot: UInt32) -> Bool {
        guard Int(slot) < slotLimit, let record = unsafe directory.record(slot) else {
            return false
        }
        return unsafe record.pointee.flags.contains(.isLive)
    }

    /// Whether a post lives in the slot and has none of some flags; any slot may be asked for.
    @inline(__always)
    func isLive(_ slot: UInt32, without flags: PostRecord.Flags) -> Bool {
        guard Int(slot) < slotLimit, let record = unsafe directory.record(slot) else {
            return false
        }
        return unsafe record.pointee.flags.intersection(flags.union(.isLive)) == .isLive
    }

    /// The record in a slot below the limit; traps elsewhere.
    package subscript(slot: UInt32) -> PostRecord {
        @inline(__always) get { unsafe record(slot).pointee }
        @inline(__always) _modify { yield unsafe &record(slot).pointee }
    }

    /// Puts a post into a slot that has never had one.
    package mutating func insert(_ record: PostRecord, at slot: UInt32) {
        while Int(slot) >= slotLimit { appendPiece() }
        let piece = Int(slot) >> Self.pieceBits
        if liveCounts[piece] == 0 { makePages(of: piece) }
        precondition(!contains(slot), "A slot is never used twice.")
        self[slot] = record
        liveCounts[piece] += 1
        count += 1
    }

    /// Frees a post's texts and its slot.
    package mutating func remove(_ slot: UInt32) {
        precondition(contains(slot), "Only a post that lives can be removed.")
        self[slot].content.free()
        self[slot].flags = []
        let piece = Int(slot) >> Self.pieceBits
        liveCounts[piece] -= 1
        count -= 1
        if liveCounts[piece] == 0 {
            // The pages are read as zeros, which are no posts, until they are written to again.
            let first = unsafe record(UInt32(piece << Self.pieceBits))
            unsafe Pages.giveBack(first, Self.pieceByteCount)
        }
    }

    /// The first slot at or after `slot` whose piece has a post; nil beyond the last.
    package func nextSlot(from slot: Int) -> Int? {
        var slot = slot
        while slot < slotLimit {
            if liveCounts[slot >> Self.pieceBits] > 0 { return slot }
            slot = (slot >> Self.pieceBits + 1) << Self.pieceBits
        }
        return nil
    }

    /// The slot of the first live post at or after a slot; nil beyond the last.
    func nextLiveSlot(from slot: Int) -> UInt32? {
        var next = nextSlot(from: slot)
        while let found = next {
            if contains(UInt32(found)) { return UInt32(found) }
            next = nextSlot(from: found + 1)
        }
        return nil
    }

    /// Calls the body with the slot of each live post; O(posts).
    func forEachSlot(_ body: (UInt32) -> Void) {
        var next = nextLiveSlot(from: 0)
        while let slot = next {
            body(slot)
            next = nextLiveSlot(from: Int(slot) + 1)
        }
    }

    /// Has the kernel make the pages of a piece at once.
    ///
    /// A page that is read before it is written to is changed under all threads then: with two
    /// threads, each change interrupts the other processor.
    private func makePages(of piece: Int) {
        let first = unsafe record(UInt32(piece << Self.pieceBits))
        unsafe Pages.make(first, Self.pieceByteCount)
    }

    private mutating func appendPiece() {
        let first = slotLimit
        directory.makeSegment(of: UInt32(first))
        if first > 0, first % RecordDirectory.segmentSlotCount == 0 {
            let pieces = (first - RecordDirectory.segmentSlotCount) >> Self.pieceBits
            // A huge page would take the memory of deleted pieces again.
            if (pieces..<liveCounts.count).allSatisfy({ liveCounts[$0] > 0 }) {
                directory.useHugePage(of: UInt32(first - 1))
            }
        }
        liveCounts.append(0)
    }

    package mutating func setProbeTitle(_ title: borrowing Span<UInt8>) {
        probeTitle.removeAll()
        for index in title.indices { probeTitle.append(title[index]) }
    }

    /// Whether one key precedes another in the order of the list.
    @inline(__always)
    package func precedes(_ left: RankKey, _ right: RankKey) -> Bool {
        if left.primary != right.primary { return left.primary < right.primary }
        if left.secondary != right.secondary { return left.secondary < right.secondary }
        if !RankKey.titleDecides(left.secondary) { return left.slot < right.slot }
        return precedesOnTie(left, right)
    }

    @inline(never)
    private func precedesOnTie(_ left: RankKey, _ right: RankKey) -> Bool {
        let areOnePost = left.slot == right.slot && left.isProbe | right.isProbe == 0
        let order = areOnePost ? 0 : compareTitles(left, right)
        return order != 0 ? order < 0 : left.slot < right.slot
    }

    private func compareTitles(_ left: RankKey, _ right: RankKey) -> Int {
        unsafe withTitle(left) { leftTitle in
            unsafe withTitle(right) { rightTitle in
                unsafe ContentBlob.compare(leftTitle, rightTitle)
            }
        }
    }

    private func withTitle<R>(_ key: RankKey, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        if key.isProbe == 1 { return unsafe probeTitle.withBytes(body) }
        return unsafe body(self[key.slot].content.title)
    }

    @inline(__always)
    private func record(_ slot: UInt32) -> UnsafeMutablePointer<PostRecord> {
        guard Int(slot) < slotLimit, let record = unsafe directory.record(slot) else {
            preconditionFailure("No post has ever been near slot \(slot).")
        }
        return unsafe record
    }
}

/// The addresses of the segments that have a stripe's records; nil where there is no segment yet.
///
/// The directory has room for every possible slot. Its pages take memory once they are written to.
/// Neither the directory nor a segment moves or is freed before the stripe. So a thread without the
/// stripe's lock may ask for the address of a record, but may not read the record. A segment is as
/// large as a huge page, and aligned to one. `Sendable` because the addresses are atomic, and only
/// the owner of the lock reads records.
@safe
struct RecordDirectory: BitwiseCopyable, @unchecked Sendable {
    /// The number of records that a walk prefetches ahead of the record being read.
    static let prefetchDistance = 16
    private static let segmentBits = 15
    fileprivate static let segmentSlotCount = 1 << segmentBits
    private static let segmentCount = 1 << (32 - segmentBits)
    private static let segmentByteCount = segmentSlotCount * MemoryLayout<PostRecord>.stride

    private let segments: UnsafeMutablePointer<Atomic<UnsafeMutablePointer<PostRecord>?>>

    /// A directory without segments, to be freed by `free()`.
    init() {
        // Zero bits are an address of none; `calloc` of so much leaves its pages to be written.
        let stride = MemoryLayout<Int>.stride
        guard let block = unsafe calloc(Self.segmentCount, stride) else {
            fatalError("No memory for a directory of \(Self.segmentCount) segments.")
        }
        unsafe segments = block.bindMemory(
            to: Atomic<UnsafeMutablePointer<PostRecord>?>.self,
            capacity: Self.segmentCount
        )
    }

    /// The address of a slot's record; nil where its segment is not there.
    @inline(__always)
    fileprivate func record(_ slot: UInt32) -> UnsafeMutablePointer<PostRecord>? {
        let number = Int(slot >> UInt32(Self.segmentBits))
        guard let segment = unsafe segments[number].load(ordering: .relaxed) else { return nil }
        return unsafe segment + (Int(slot) & (Self.segmentSlotCount - 1))
    }

    /// Prefetches a record's cache line; does nothing where there is no segment.
    @inline(__always)
    func prefetch(_ slot: UInt32) {
        guard let record = unsafe record(slot) else { return }
        unsafe cprefetch_for_write(record)
    }

    /// Makes the segment of a slot, where it is not there; its records are zeros.
    fileprivate func makeSegment(of slot: UInt32) {
        let number = Int(slot >> UInt32(Self.segmentBits))
        guard unsafe segments[number].load(ordering: .relaxed) == nil else { return }
        let byteCount = Self.segmentByteCount
        let block = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: byteCount)
        unsafe Pages.clear(block, byteCount)
        let records = unsafe block.bindMemory(to: PostRecord.self, capacity: Self.segmentSlotCount)
        unsafe segments[number].store(records, ordering: .relaxed)
    }

    /// Puts a full segment into a huge page, since random votes on millions of posts miss the TLB
    /// too; a segment that fills would take all of it at once.
    ///
    /// Copies two megabytes, in less than a millisecond; a kernel may refuse.
    fileprivate func useHugePage(of slot: UInt32) {
        guard let records = unsafe record(slot & ~UInt32(Self.segmentSlotCount - 1)) else { return }
        unsafe Pages.useHuge(records, Self.segmentByteCount, atOnce: true)
    }

    /// Frees the directory and the segments of all slots below `slotLimit`.
    fileprivate func free(slotLimit: Int) {
        for first in stride(from: 0, to: slotLimit, by: Self.segmentSlotCount) {
            unsafe record(UInt32(first))?.deallocate()
        }
        unsafe Pages.free(segments)
    }
}

/// The part of a post that votes and orders need: one cache line.
package struct PostRecord: BitwiseCopyable {
    /// All ups counted, or the ballots that are up.
    package var upvoteCount: UInt64 = 0
    /// All downs counted, or the ballots that are down.
    package var downvoteCount: UInt64 = 0
    /// The number of the last write of any kind, votes included.
    package var revision: UInt64
    /// The Unix time; it decides NEW and OLD, and its seconds decide HOT.
    package var createTimeMilliseconds: Int64
    /// The first eight bytes of the title, as `ContentBlob.titlePrefix` has them.
    package var titlePrefix: UInt64
    /// What RISING sorts by.
    package var risingSum = RisingSum.initial
    /// The texts, and the numbers that no order needs.
    package var content: ContentBlob
    /// How much the score has changed since the indexes got it; valid while `isIndexed`.
    package var scoreChange: Int32 = 0
    /// The number of the post's feed; a store has at most `RankingLimits.maximumFeedCount`.
    private let feedNumber: UInt16
    /// The post's state; `isLive` distinguishes a post from a free slot.
    package var flags: Flags

    /// The state of a post between its votes and the indexes.
    package struct Flags: OptionSet, BitwiseCopyable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The slot has a post.
        package static let isLive = Flags(rawValue: 1)
        /// Every index built for the post has it, at its indexed score.
        package static let isIndexed = Flags(rawValue: 2)
        /// The head of `StaleSlots` has the post.
        package static let isInStaleHead = Flags(rawValue: 4)
        /// The tail of `StaleSlots` has the post.
        package static let isInStaleTail = Flags(rawValue: 8)
        /// Votes set ballots; they are not counted one by one.
        package static let keepsBallots = Flags(rawValue: 16)
        /// `SideLists` knows that the post was voted on since a side list was read.
        package static let isTouched = Flags(rawValue: 32)
        /// Only users have ballots; a post with this flag has `keepsBallots` too.
        package static let onlyUsersVote = Flags(rawValue: 64)
        /// A vote on the post may move it out of the head of a side list, or within it.
        package static let isInSideHead = Flags(rawValue: 128)
        /// `SyncOrder` knows that the post has changed since the changes were read.
        package static let isChanged = Flags(rawValue: 256)
    }

    package init(
        content: ContentBlob,
        feed: FeedID,
        voteMode: VoteMode,
        createTimeMilliseconds: Int64,
        revision: UInt64
    ) {
        self.content = content
        feedNumber = UInt16(truncatingIfNeeded: feed.rawValue)
        self.createTimeMilliseconds = createTimeMilliseconds
        self.revision = revision
        titlePrefix = content.titlePrefix
        flags =
            switch voteMode {
            case .tally: .isLive
            case .ballot: [.isLive, .keepsBallots]
            case .userBallot: [.isLive, .keepsBallots, .onlyUsersVote]
            }
    }

    /// Upvotes minus downvotes; wraps instead of trapping.
    package var score: Int64 {
        @inline(__always) get { Int64(bitPattern: upvoteCount &- downvoteCount) }
    }

    /// The post's feed, which never changes: no post moves to another feed.
    package var feed: FeedID { @inline(__always) get { FeedID(rawValue: UInt32(feedNumber)) } }

    /// The score under which the indexes have the post; valid while `isIndexed`.
    package var indexedScore: Int64 { @inline(__always) get { score &- Int64(scoreChange) } }

    /// Whether a few more votes could pass the range of `scoreChange`.
    var scoreChangeIsLarge: Bool { @inline(__always) get { scoreChange.magnitude >= 1 << 30 } }

    /// Adds an upvote of a moment; O(1).
    @inline(__always)
    mutating func addUpvote(_ weight: VoteWeight) {
        fixRisingSum()
        risingSum = risingSum.adding(weight, createTimeMilliseconds: createTimeMilliseconds)
        upvoteCount &+= 1
        scoreChange &+= 1
    }

    @inline(__always)
    mutating func addDownvote() {
        downvoteCount &+= 1
        scoreChange &-= 1
    }

    /// Takes an upvote back, which stays in the sum of RISING; O(1).
    mutating func removeUpvote() {
        fixRisingSum()
        upvoteCount &-= 1
        scoreChange &-= 1
    }

    /// Takes a downvote back; O(1).
    mutating func removeDownvote() {
        downvoteCount &-= 1
        scoreChange &+= 1
    }

    /// Computes the sum of RISING before the upvotes change from which it follows; O(1).
    @inline(__always)
    private mutating func fixRisingSum() {
        if risingSum.isInitial { risingSum = initialRisingSum }
    }

    /// The sum of RISING as of the creation.
    private var initialRisingSum: RisingSum {
        RisingSum(upvoteCount: upvoteCount, createTimeMilliseconds: createTimeMilliseconds)
    }

    /// The first part of the post's key in RISING; O(1).
    package var risingKey: UInt64 {
        let sum = risingSum.isInitial ? initialRisingSum : risingSum
        return sum.key(createTimeMilliseconds: createTimeMilliseconds)
    }
}
