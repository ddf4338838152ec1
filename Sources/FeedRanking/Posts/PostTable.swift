internal import CPrefetch
import Glibc
import Synchronization

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
    /// MADV_POPULATE_WRITE of Linux 5.14, whose number the C library may not know yet.
    private static let populateAdvice: CInt = 23

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
            _ = unsafe madvise(first, Self.pieceByteCount, MADV_DONTNEED)
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

    /// Has the kernel make the pages of a piece at once, in place of a fault or two for each; a
    /// kernel that does not know how makes them one by one.
    ///
    /// A page that is read before it is written to is changed under all threads then: with two
    /// threads, each change interrupts the other processor.
    private func makePages(of piece: Int) {
        let first = unsafe record(UInt32(piece << Self.pieceBits))
        _ = unsafe madvise(first, Self.pieceByteCount, Self.populateAdvice)
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
    /// Of Linux 6.1, whose number the C library may not know yet.
    private static let collapseAdvice: CInt = 25

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
        // What is given back reads as zeros, and takes no memory until it is written to.
        if unsafe madvise(block, byteCount, MADV_DONTNEED) != 0 {
            unsafe memset(block, 0, byteCount)
        }
        let records = unsafe block.bindMemory(to: PostRecord.self, capacity: Self.segmentSlotCount)
        unsafe segments[number].store(records, ordering: .relaxed)
    }

    /// Puts a full segment into a huge page, since random votes on millions of posts miss the TLB
    /// too; a segment that fills would take all of it at once.
    ///
    /// Copies two megabytes, in less than a millisecond; a kernel may refuse.
    fileprivate func useHugePage(of slot: UInt32) {
        guard let records = unsafe record(slot & ~UInt32(Self.segmentSlotCount - 1)) else { return }
        _ = unsafe madvise(records, Self.segmentByteCount, MADV_HUGEPAGE)
        _ = unsafe madvise(records, Self.segmentByteCount, Self.collapseAdvice)
    }

    /// Frees the directory and the segments of all slots below `slotLimit`.
    fileprivate func free(slotLimit: Int) {
        for first in stride(from: 0, to: slotLimit, by: Self.segmentSlotCount) {
            unsafe record(UInt32(first))?.deallocate()
        }
        unsafe Glibc.free(segments)
    }
}
