/// The posts of a run as one thread sees them: a read when a vote leaves, three additions when its
/// answer comes.
///
/// Id and tally of a post share a cache line. With many posts both are a miss each, which costs more
/// than all the rest of a vote.
@safe struct PostSlab: ~Copyable {
    private struct Entry {
        let id: UInt64
        var tally = VoteTally()
    }

    private let entries: UnsafeMutableBufferPointer<Entry>
    private let count: Int

    /// The posts with these ids and no vote.
    init(ids: [UInt64]) {
        count = ids.count
        let size = MemoryLayout<Entry>.stride
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(1, count) * size,
            alignment: size
        )
        let start = unsafe memory.bindMemory(to: Entry.self, capacity: count)
        unsafe entries = UnsafeMutableBufferPointer(start: start, count: count)
        for (index, id) in ids.enumerated() {
            unsafe entries.initializeElement(at: index, to: Entry(id: id))
        }
    }

    deinit {
        unsafe UnsafeMutableRawPointer(entries.baseAddress)?.deallocate()
    }

    /// The id of post number `post`.
    @inline(__always)
    func id(_ post: UInt32) -> UInt64 {
        precondition(post < count, "No such post.")
        return unsafe entries[Int(post)].id
    }

    /// Counts a vote on post number `post` that was answered with `score`.
    @inline(__always)
    func acknowledge(_ post: UInt32, score: Int64) {
        precondition(post < count, "No such post.")
        unsafe entries[Int(post)].tally.acknowledge(score: score)
    }

    /// All tallies, by the post's number.
    func tallies() -> [VoteTally] {
        unsafe entries.map { $0.tally }
    }
}
