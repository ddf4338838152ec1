import FeedRanking

extension PostPage {
    /// What is wrong with the order of the rows, or with their ids; nil where nothing is.
    func disorder(_ order: Order) -> String? {
        if Set(rows.map(\.id)).count != rows.count { return "\(order): an id came twice" }
        if order == .rising { return risingDisorder }
        for (left, right) in zip(rows, rows.dropFirst()) where !precedes(left, right, order) {
            return "\(order): \(left) before \(right)"
        }
        return nil
    }

    /// A row has no sum of RISING, so the keys must do.
    private var risingDisorder: String? {
        for place in rows.indices.dropFirst() {
            let (left, right) = (rowKeys[place - 1].primary, rowKeys[place].primary)
            let isInOrder = left < right || (left == right && rows[place - 1].id < rows[place].id)
            if !isInOrder { return "rising: \(rows[place - 1]) before \(rows[place])" }
        }
        return nil
    }

    private func precedes(_ left: PostRow, _ right: PostRow, _ order: Order) -> Bool {
        switch order {
        case .top:
            if left.score != right.score { return left.score > right.score }
            let (leftTitle, rightTitle) = (bytes(left.title), bytes(right.title))
            if leftTitle != rightTitle { return leftTitle.lexicographicallyPrecedes(rightTitle) }
            return left.id < right.id
        case .new: return Self.isOlder(right, left)
        case .old: return Self.isOlder(left, right)
        case .hot:
            let (leftRank, rightRank) = (Self.hotRank(left), Self.hotRank(right))
            return leftRank != rightRank ? leftRank > rightRank : left.id < right.id
        case .best:
            let (leftKey, rightKey) = (Self.confidence(left), Self.confidence(right))
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        case .controversial:
            let (leftKey, rightKey) = (Self.controversy(left), Self.controversy(right))
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        case .rising: return true
        case .discussed:
            let (leftKey, rightKey) = (left.commentCount, right.commentCount)
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        }
    }

    private static func confidence(_ row: PostRow) -> Double {
        ConfidenceRank.value(upvoteCount: row.upvoteCount, downvoteCount: row.downvoteCount)
    }

    private static func controversy(_ row: PostRow) -> Double {
        ControversyRank.value(upvoteCount: row.upvoteCount, downvoteCount: row.downvoteCount)
    }

    private static func isOlder(_ left: PostRow, _ right: PostRow) -> Bool {
        (left.createTimeMilliseconds, left.id) < (right.createTimeMilliseconds, right.id)
    }

    private static func hotRank(_ row: PostRow) -> Int64 {
        HotRank.key(score: row.score, createTimeMilliseconds: row.createTimeMilliseconds)
    }
}
