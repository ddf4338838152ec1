/// The orders of one list of posts within a stripe: of a feed, or of all feeds together.
struct FeedIndexes: BitwiseCopyable {
    /// The number of live posts, in an index or not.
    var postCount = 0
    /// The number of posts that were ever created here, or restored by the start of the process.
    var createdCount: UInt64 = 0
    /// What a post needs to be in the head of TOP, HOT or NEW, and whether NEW is built.
    private(set) var headThreshold = HeadThreshold()
    private var top = RankedIndex()
    private var new = RankedIndex()
    private var hot = RankedIndex()

    /// Counts a post that is new here.
    mutating func countCreation() {
        postCount += 1
        createdCount += 1
    }

    /// The index of an order; it is built when a reader first asks for it.
    subscript(kind: KeyKind) -> RankedIndex {
        @inline(__always) get {
            switch kind {
            case .top: top
            case .new: new
            case .hot: hot
            case .best, .controversial, .rising, .discussed: RankedIndex()
            }
        }
        @inline(__always) set {
            switch kind {
            case .top: top = newValue
            case .new: new = newValue
            case .hot: hot = newValue
            case .best, .controversial, .rising, .discussed:
                preconditionFailure("A list of \(kind) does not stand.")
            }
            headThreshold.update(kind, newValue)
        }
    }
}
