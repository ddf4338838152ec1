/// The orders of one list of posts within a stripe: of a feed, or of all feeds together.
struct FeedIndexes: BitwiseCopyable {
    /// The number of live posts, in an index or not.
    var postCount = 0
    /// The number of posts that were ever created here, or restored by the start of the process.
    var createdCount: UInt64 = 0
    /// What a post needs to be in the head of TOP, HOT or NEW, and whether NEW is built.
    private(set) var headThreshold = HeadThreshold()
    private var indexes = [3 of RankedIndex](repeating: RankedIndex())

    /// Counts a post that is new here.
    mutating func countCreation() {
        postCount += 1
        createdCount += 1
    }

    /// The index of a standing order; it is built when a reader first asks for it.
    subscript(kind: KeyKind) -> RankedIndex {
        @inline(__always) get { indexes[Int(kind.rawValue)] }
        @inline(__always) set {
            indexes[Int(kind.rawValue)] = newValue
            headThreshold.update(kind, newValue)
        }
    }
}
