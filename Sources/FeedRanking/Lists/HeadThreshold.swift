/// The least score and the least hot rank at which a post may be in the head of a list.
///
/// A vote compares them with the new score of its post. Almost all posts lie behind both, and so
/// behind the head boundaries; only the others are compared with the boundaries themselves. A post
/// that no index has may also be in the head of NEW, where NEW is built; a vote on one that it has moves
/// nothing there, and shows.
struct HeadThreshold: BitwiseCopyable {
    private var score = Int64.max
    private var hotRank = Double.infinity
    /// The least time of the head of NEW.
    private var time = Int64.max
    /// Whether NEW is built.
    private(set) var hasNew = false

    /// The threshold of a list without indexes, which no score reaches.
    init() {}

    /// Takes in an index of the list after a change of its boundary.
    mutating func update(_ kind: KeyKind, _ index: RankedIndex) {
        let least = RankKey.value(descending: index.headBoundary.primary)
        switch kind {
        case .top: score = index.isBuilt ? least : .max
        case .hot: hotRank = index.isBuilt ? Double(least) : .infinity
        case .new:
            hasNew = index.isBuilt
            time = index.isBuilt ? least : .max
        case .best, .controversial, .rising, .discussed: break
        }
    }

    /// Whether a post may be in the head of TOP.
    @inline(__always)
    func mayBeReached(byScore score: Int64) -> Bool { score >= self.score }

    /// Whether a post may be in the head of NEW.
    @inline(__always)
    func mayBeReached(byTime time: Int64) -> Bool { time >= self.time }

    /// Whether a post may be in the head of HOT by an upper bound of its rank.
    @inline(__always)
    func mayBeReached(byHotRank bound: Double) -> Bool { bound >= hotRank }
}
