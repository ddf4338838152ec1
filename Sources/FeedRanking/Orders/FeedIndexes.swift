/// The orders of one list of posts within a stripe: of a feed, or of all feeds together.
struct FeedIndexes: BitwiseCopyable {
    /// The posts that live, in an index or not yet.
    var postCount = 0
    private var top = RankedIndex()
    private var new = RankedIndex()
    private var hot = RankedIndex()

    /// The index of an order; not built where nobody has asked for it.
    subscript(kind: IndexKind) -> RankedIndex {
        @inline(__always) get {
            switch kind {
            case .top: top
            case .new: new
            case .hot: hot
            }
        }
        @inline(__always) set {
            switch kind {
            case .top: top = newValue
            case .new: new = newValue
            case .hot: hot = newValue
            }
        }
    }
}
