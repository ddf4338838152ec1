import Glibc

/// Tells cheaply that a vote cannot have brought a post into the head of a list of a side group.
///
/// It has the loosest head boundary of each kind, in the terms of the votes: neither a root nor a
/// power is computed for a post. It errs on one side only: where it says no, the post's key lies
/// behind all of the boundaries.
struct HeadFilter: ~Copyable {
    /// The loosest boundaries of the kinds with windows, for posts that are in one window and all
    /// longer ones.
    struct Level: BitwiseCopyable {
        /// The start of the window; no post is in a window without lists.
        var start = Int64.max
        /// The least score that reaches the head of a list of TOP.
        var score = Int64.max
        /// The logarithm of the controversy at the boundary of CONTROVERSIAL, to the base 2.
        var controversyLog = Double.infinity
    }

    /// The levels by the number of the window; 0 is all time.
    private var levels = Slab<Level>()
    private var hasWindows = false
    /// The confidence at the boundary of BEST; above 1 there is no list.
    private var confidence = 2.0
    private var confidenceSpread = 0.0
    /// The last key of RISING in the head; 0 is none.
    private var risingKey: UInt64 = 0
    /// Doubles are compared with so much room for their rounding.
    private static let margin = 1 - 1e-9

    /// A filter that no post passes.
    init() { levels.extend(to: Window.allCases.count + 1, with: Level()) }

    /// Forgets all boundaries.
    mutating func removeAll() {
        for number in 0..<levels.count { levels[number] = Level() }
        hasWindows = false
        confidence = 2
        risingKey = 0
    }

    /// Takes in the boundary of a list; `start` is that of its window.
    mutating func add(_ keys: borrowing SideIndex, _ window: Window?, start: Int64) {
        let boundary = keys.index.headBoundary.primary
        let isWhole = keys.index.headBoundary == .lowest
        let number = Int(window?.rawValue ?? 0)
        if window != nil {
            hasWindows = true
            levels[number].start = start
        }
        switch keys.kind {
        case .top:
            let score = RankKey.value(descending: boundary)
            levels[number].score = min(levels[number].score, score)
        case .controversial:
            let least = isWhole ? 0 : Double(bitPattern: ~boundary)
            let logarithm = least > 1 ? log2(least) * Self.margin : 0
            levels[number].controversyLog = min(levels[number].controversyLog, logarithm)
        case .best:
            let least = isWhole ? 0 : Double(bitPattern: ~boundary) * Self.margin
            confidence = least
            confidenceSpread = ConfidenceRank.spread(at: least) * Self.margin
        case .rising: risingKey = boundary
        case .discussed, .new, .hot: break
        }
    }

    /// Loosens each level by the longer windows, in which its posts are too.
    mutating func finish() {
        var longer = levels[0]
        for number in stride(from: levels.count - 1, to: 0, by: -1) {
            longer.score = min(longer.score, levels[number].score)
            longer.controversyLog = min(longer.controversyLog, levels[number].controversyLog)
            levels[number].score = longer.score
            levels[number].controversyLog = longer.controversyLog
        }
    }

    /// Whether a post may be in the head of a list by its votes; O(windows).
    @inline(__always)
    func mayReachHead(_ record: PostRecord) -> Bool {
        let level = levels[level(of: record.createTimeMilliseconds)]
        if record.score >= level.score { return true }
        if risingKey > 0, record.risingKey <= risingKey { return true }
        let (ups, downs) = (Double(record.upvoteCount), Double(record.downvoteCount))
        let count = ups + downs
        let distance = ups - confidence * count
        if distance >= 0, distance * distance >= confidenceSpread * count { return true }
        let bound = LogarithmBound.log2(max(count, 1))
        return min(ups, downs) * bound >= max(ups, downs) * level.controversyLog
    }

    /// The shortest window that a post is in.
    @inline(__always)
    private func level(of createTimeMilliseconds: Int64) -> Int {
        guard hasWindows else { return 0 }
        for number in 1..<levels.count where createTimeMilliseconds > levels[number].start {
            return number
        }
        return 0
    }
}
