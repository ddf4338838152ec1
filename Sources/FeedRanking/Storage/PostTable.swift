import Glibc

/// The posts of a stripe by slot: a directory of fixed chunks, none where no post lives.
///
/// A post is found without a hash, in two loads. A chunk whose posts are all deleted is freed.
@safe
package struct PostTable: ~Copyable {
    private static let chunkBits = 10
    private static let chunkSlotCount = 1 << chunkBits

    @safe
    private struct Chunk: BitwiseCopyable {
        var records: UnsafeMutablePointer<PostRecord>?
        var liveCount: UInt32
    }

    private var chunks = Slab<Chunk>()
    /// The title of the place that a probe key stands for.
    private var probeTitle = Slab<UInt8>()
    package private(set) var count = 0

    /// An empty table, which takes no memory.
    package init() {}

    deinit {
        for slot in 0..<slotLimit where contains(UInt32(slot)) {
            self[UInt32(slot)].content.free()
        }
        for index in 0..<chunks.count {
            unsafe chunks[index].records?.deallocate()
        }
    }

    /// No slot from here on has ever been used.
    package var slotLimit: Int { chunks.count << Self.chunkBits }

    /// Whether a post lives in the slot; any slot may be asked for.
    @inline(__always)
    package func contains(_ slot: UInt32) -> Bool {
        let index = Int(slot) >> Self.chunkBits
        guard index < chunks.count, let records = unsafe chunks[index].records else {
            return false
        }
        return unsafe records[Int(slot) & (Self.chunkSlotCount - 1)].flags.contains(.isLive)
    }

    /// The record in a slot of a chunk that exists; traps elsewhere.
    package subscript(slot: UInt32) -> PostRecord {
        @inline(__always) get { unsafe records(slot)[Int(slot) & (Self.chunkSlotCount - 1)] }
        @inline(__always) _modify {
            yield unsafe &records(slot)[Int(slot) & (Self.chunkSlotCount - 1)]
        }
    }

    /// Puts a post into a slot that never held one.
    package mutating func insert(_ record: PostRecord, at slot: UInt32) {
        let index = Int(slot) >> Self.chunkBits
        unsafe chunks.extend(to: index + 1, with: Chunk(records: nil, liveCount: 0))
        if unsafe chunks[index].records == nil {
            let byteCount = Self.chunkSlotCount * MemoryLayout<PostRecord>.stride
            let block = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
            unsafe memset(block, 0, byteCount)
            unsafe chunks[index].records = block.bindMemory(
                to: PostRecord.self,
                capacity: Self.chunkSlotCount
            )
        }
        precondition(!contains(slot), "A slot is never used twice.")
        self[slot] = record
        chunks[index].liveCount += 1
        count += 1
    }

    /// Frees a post's texts and its slot.
    package mutating func remove(_ slot: UInt32) {
        precondition(contains(slot), "Only a post that lives can be removed.")
        self[slot].content.free()
        self[slot].flags = []
        let index = Int(slot) >> Self.chunkBits
        chunks[index].liveCount -= 1
        count -= 1
        if chunks[index].liveCount == 0 {
            unsafe chunks[index].records?.deallocate()
            unsafe chunks[index].records = nil
        }
    }

    /// The first slot at or after `slot` whose chunk exists; nil beyond the last.
    package func nextSlot(from slot: Int) -> Int? {
        var slot = slot
        while slot < slotLimit {
            if unsafe chunks[slot >> Self.chunkBits].records != nil { return slot }
            slot = (slot >> Self.chunkBits + 1) << Self.chunkBits
        }
        return nil
    }

    /// Sets the title that probe keys compare with.
    package mutating func setProbeTitle(_ title: borrowing Span<UInt8>) {
        probeTitle.removeLast()
        for index in title.indices {
            probeTitle.append(title[index])
        }
    }

    /// Whether one key comes before another in the order of the list.
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
        if key.isProbe == 1 {
            return unsafe probeTitle.withBytes(body)
        }
        return unsafe body(self[key.slot].content.title)
    }

    @inline(__always)
    private func records(_ slot: UInt32) -> UnsafeMutablePointer<PostRecord> {
        guard let records = unsafe chunks[Int(slot) >> Self.chunkBits].records else {
            preconditionFailure("No post lives near slot \(slot).")
        }
        return unsafe records
    }
}
