internal import CPrefetch
import Glibc
import Synchronization

/// The addresses of the segments that have a stripe's records; nil where there is no segment yet.
///
/// The directory has room for every possible slot. Its pages take memory once they are written to.
/// Neither the directory nor a segment moves or is freed before the stripe. So a thread without the
/// stripe's lock may ask for the address of a record, but may not read the record. A segment is as
/// large as a huge page, and aligned to one. `Sendable` because the addresses are atomic, and only
/// the owner of the lock reads records.
@safe
struct RecordDirectory: BitwiseCopyable, @unchecked Sendable {
    static let segmentBits = 15
    static let segmentSlotCount = 1 << segmentBits
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
    func record(_ slot: UInt32) -> UnsafeMutablePointer<PostRecord>? {
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
    func makeSegment(of slot: UInt32) {
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
    func useHugePage(of slot: UInt32) {
        guard let records = unsafe record(slot & ~UInt32(Self.segmentSlotCount - 1)) else { return }
        _ = unsafe madvise(records, Self.segmentByteCount, MADV_HUGEPAGE)
        _ = unsafe madvise(records, Self.segmentByteCount, Self.collapseAdvice)
    }

    /// Frees the directory and the segments of all slots below `slotLimit`.
    func free(slotLimit: Int) {
        for first in stride(from: 0, to: slotLimit, by: Self.segmentSlotCount) {
            unsafe record(UInt32(first))?.deallocate()
        }
        unsafe Glibc.free(segments)
    }
}
