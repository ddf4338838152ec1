import FeedProto
import FeedRanking

/// The keys of a post, each a number that ascends along its order, as the service computes them.
///
/// A service keeps times in 0 to 2^51 and counts far below 2^62. Beyond, the sums would overflow, so the
/// numbers of a damaged or hostile one count as the nearest of these.
struct ListKeys {
    let top: Int64
    let hot: Int64
    let best: Int64
    let controversial: Int64
    let discussed: Int64

    init(_ post: FeedProto.Post) {
        top = Self.ascending(RankKey.descending(post.score))
        hot = Self.ascending(
            RankKey.descending(
                HotRank.key(
                    score: post.score,
                    createTimeMilliseconds: min(
                        max(post.createTimeMilliseconds, 0),
                        RankingLimits.maximumTimeMilliseconds
                    )
                )
            )
        )
        let (up, down) = (min(post.upvoteCount, 1 << 62), min(post.downvoteCount, 1 << 62))
        best = Self.ascending(
            RankKey.descending(
                notNegative: ConfidenceRank.value(upvoteCount: up, downvoteCount: down)
            )
        )
        controversial = Self.ascending(
            RankKey.descending(
                notNegative: ControversyRank.value(upvoteCount: up, downvoteCount: down)
            )
        )
        discussed = Self.ascending(RankKey.descending(Int64(clamping: post.commentCount)))
    }

    /// The key of the service as a number of SQLite, which has a sign.
    private static func ascending(_ key: UInt64) -> Int64 { Int64(bitPattern: key ^ (1 << 63)) }
}
