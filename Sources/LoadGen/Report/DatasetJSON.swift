import FeedImport

/// The files of a run in the JSON report.
struct DatasetJSON: Encodable {
    let importSeconds: OrNull<Double>
    let posts: Int
    let leftOut: Int
    let upvotes: UInt64
    let downvotes: UInt64
    let `repeat`: UInt64
    let files: [File]

    init(_ dataset: DatasetResult) {
        importSeconds = OrNull(finite: dataset.importSeconds)
        posts = dataset.postCount
        leftOut = dataset.leftOutCount
        upvotes = dataset.upvoteCount
        downvotes = dataset.downvoteCount
        `repeat` = dataset.repeatCount
        files = dataset.files.map(File.init)
    }

    /// One file.
    struct File: Encodable {
        let path: String
        let feed: String
        let posts: Int
        let upvotes: UInt64
        let downvotes: UInt64
        let leftOut: [LeftOut]

        init(_ file: DatasetResult.File) {
            path = file.path
            feed = file.feed
            posts = file.postCount
            upvotes = file.upvoteCount
            downvotes = file.downvoteCount
            leftOut = file.leftOut.map(LeftOut.init(post:))
        }
    }

    /// A post that was not imported, with its message.
    struct LeftOut: Encodable {
        let post: LeftOutPost

        private enum CodingKeys: CodingKey {
            case message
        }

        func encode(to encoder: any Encoder) throws {
            try post.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(post.message, forKey: .message)
        }
    }
}
