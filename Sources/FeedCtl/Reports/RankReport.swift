package import FeedProto

/// A post's place, as `rank` reports it.
package struct RankReport: Report, Equatable {
    let postID: UInt64
    /// 1 is the best.
    let rank: UInt64
    /// How many posts the list has.
    let totalSize: UInt64

    /// The report of a place.
    package init(postID: UInt64, _ place: PostRank) {
        self.postID = postID
        rank = place.rank
        totalSize = place.totalSize
    }

    /// One line.
    package func text(_ style: TextStyle) -> String {
        "Post \(postID): rank \(rank) of \(totalSize).\n"
    }
}
