/// The posts of a run as one thread sees them: one read when a vote is sent, three additions when
/// its answer arrives.
///
/// The id and the tally of a post share a cache line. With many posts each of the two would be a
/// cache miss, which costs more than all the rest of a vote.
@safe struct PostSlab: ~Copyable {
    private struct Entry {
        let id: UInt64
        var tally = VoteTally()
    }

    // Not a buffer pointer: the thread sanitizer of Swift 6.3 cannot compile a change through one.
    private let entries: UnsafeMutablePointer<Entry>
    private let count: Int

    /// The posts with these ids and no vote.
    init(ids: [UInt64]) {
        count = ids.count
        let size = MemoryLayout<Entry>.stride
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(1, count) * size,
            alignment: size
        )
        unsafe entries = memory.bindMemory(to: Entry.self, capacity: count)
        for (index, id) in ids.enumerated() {
            unsafe (entries + index).initialize(to: Entry(id: id))
        }
    }

    deinit {
        unsafe UnsafeMutableRawPointer(entries).deallocate()
    }

    /// The id of post number `post`.
    @inline(__always)
    func id(_ post: UInt32) -> UInt64 {
        unsafe entry(post).pointee.id
    }

    /// Counts a vote on post number `post` that was answered with `score`.
    @inline(__always)
    func acknowledge(_ post: UInt32, score: Int64) {
        unsafe entry(post).pointee.tally.acknowledge(score: score)
    }

    /// All tallies, by the post's number.
    func tallies() -> [VoteTally] {
        (0..<count).map { unsafe entry(UInt32($0)).pointee.tally }
    }

    @inline(__always)
    private func entry(_ post: UInt32) -> UnsafeMutablePointer<Entry> {
        precondition(post < count, "No such post.")
        return unsafe entries + Int(post)
    }
}
