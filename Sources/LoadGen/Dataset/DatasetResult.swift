package import FeedImport

/// What a run did with its files, for the reports.
package struct DatasetResult: Sendable {
    /// One file.
    package struct File: Sendable {
        /// Where it is.
        package var path: String
        /// Its name without the folders before it.
        package var name: String
        /// The feed that it filled.
        package var feed: String
        /// The posts imported.
        package var postCount: Int
        /// The votes up to cast: those that it records for them, as often as the run repeats them.
        package var upvoteCount: UInt64
        /// The votes down to cast.
        package var downvoteCount: UInt64
        /// The posts that were not imported, and why.
        package var leftOut: [LeftOutPost]

        /// One file.
        package init(
            path: String,
            name: String,
            feed: String,
            postCount: Int,
            upvoteCount: UInt64,
            downvoteCount: UInt64,
            leftOut: [LeftOutPost]
        ) {
            self.path = path
            self.name = name
            self.feed = feed
            self.postCount = postCount
            self.upvoteCount = upvoteCount
            self.downvoteCount = downvoteCount
            self.leftOut = leftOut
        }
    }

    /// The files in the order given.
    package var files: [File]
    /// How long the import took.
    package var importSeconds: Double
    /// How often the votes that the files record are cast.
    package var repeatCount: UInt64

    /// What was done with `files`.
    package init(files: [File], importSeconds: Double, repeatCount: UInt64 = 1) {
        self.files = files
        self.importSeconds = importSeconds
        self.repeatCount = repeatCount
    }

    /// The posts imported of all files.
    package var postCount: Int { files.reduce(0) { $0 + $1.postCount } }
    /// The posts of all files that were not imported.
    package var leftOutCount: Int { files.reduce(0) { $0 + $1.leftOut.count } }
    /// The votes up to cast.
    package var upvoteCount: UInt64 { files.reduce(0) { $0 + $1.upvoteCount } }
    /// The votes down to cast.
    package var downvoteCount: UInt64 { files.reduce(0) { $0 + $1.downvoteCount } }
}

extension DatasetResult {
    /// The result of a run whose posts are imported.
    init(_ dataset: ImportedDataset, importSeconds: Double) {
        let files = dataset.files.map { imported in
            let file = imported.file
            var sums: [UInt64] = [0, 0]
            for (index, count) in imported.planned.enumerated() { sums[index % 2] += count }
            return File(
                path: file.path,
                name: file.name,
                feed: file.feed,
                postCount: imported.ids.count,
                upvoteCount: sums[0],
                downvoteCount: sums[1],
                leftOut: imported.leftOut
            )
        }
        self.init(
            files: files,
            importSeconds: importSeconds,
            repeatCount: dataset.repeatCount
        )
    }
}
