/// The tallies of all posts of one thread: an index and three additions a vote.
@safe struct TallySlab: ~Copyable {
    private let tallies: UnsafeMutableBufferPointer<VoteTally>
    private let count: Int

    /// Empty tallies for `count` posts.
    init(count: Int) {
        self.count = count
        unsafe tallies = .allocate(capacity: count)
        unsafe tallies.initialize(repeating: VoteTally())
    }

    deinit {
        unsafe tallies.deallocate()
    }

    /// Counts a vote on post number `post` that was answered with `score`.
    @inline(__always)
    func acknowledge(_ post: Int, score: Int64) {
        precondition(post >= 0 && post < count, "No such post.")
        unsafe tallies[post].acknowledge(score: score)
    }

    /// All tallies, by the post's number.
    func all() -> [VoteTally] {
        unsafe Array(tallies)
    }
}
