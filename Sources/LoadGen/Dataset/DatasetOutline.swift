internal import FeedDataset

/// What a run of files will cast and how much memory it takes, said before anything is sent.
package struct DatasetOutline: Sendable, Equatable {
    /// The files.
    package var fileCount: Int
    /// The posts in them, without those left out for a wrong value.
    package var postCount: Int
    /// The votes that the files record; `UInt64.max` where there are more.
    package var voteCount: UInt64
    /// How often they are cast.
    package var repeatCount: UInt64
    /// The memory that the order of the votes takes.
    package var scheduleByteCount: Int
    /// The memory that the counts for the audit take, over all threads.
    package var auditByteCount: Int

    /// The outline of a run of `dataset`.
    package init(_ dataset: Dataset, _ configuration: RunConfiguration) {
        let posts = dataset.files.lazy.flatMap(\.posts)
        fileCount = dataset.files.count
        postCount = dataset.files.reduce(0) { $0 + $1.posts.count }
        voteCount = posts.map { [$0.upvoteCount, $0.downvoteCount].clampedSum }.clampedSum
        repeatCount = configuration.repeatCount
        let numberCount = 2 * postCount
        scheduleByteCount = PlannedVotes.byteCount(numberCount: numberCount)
        auditByteCount = PostSlab.byteCount(count: numberCount) * configuration.threadCount
    }

    /// The votes that are cast; `UInt64.max` where there are more.
    package var totalCount: UInt64 { voteCount.multipliedClamped(by: repeatCount) }

    /// One line.
    package var description: String {
        let files = fileCount == 1 ? "1 file" : "\(fileCount) files"
        let times = repeatCount == 1 ? "" : " × \(NumberFormat.count(repeatCount))"
        let total =
            repeatCount == 1 ? "" : " = \(NumberFormat.count(totalCount)) votes"
        return """
            \(files), \(NumberFormat.count(UInt64(postCount))) posts, \
            \(NumberFormat.count(voteCount)) votes\(times)\(total) in one random order; memory beside \
            the files: \(NumberFormat.megabytes(Double(scheduleByteCount))) for the order, \
            \(NumberFormat.megabytes(Double(auditByteCount))) for the audit
            """
    }
}
