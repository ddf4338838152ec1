import FeedImport

/// The files of a run in the JSON report.
enum DatasetJSON {
    /// The member `dataset`: null where a run has no files.
    static func value(_ dataset: DatasetResult?) -> JSONValue {
        guard let dataset else { return .null }
        return .object([
            ("import_seconds", .number(dataset.importSeconds)),
            ("posts", .integer(Int64(dataset.postCount))),
            ("left_out", .integer(Int64(dataset.leftOutCount))),
            ("upvotes", .count(dataset.upvoteCount)),
            ("downvotes", .count(dataset.downvoteCount)),
            ("files", .array(dataset.files.map(value))),
        ])
    }

    private static func value(_ file: DatasetResult.File) -> JSONValue {
        .object([
            ("path", .string(file.path)),
            ("feed", .string(file.feed)),
            ("posts", .integer(Int64(file.postCount))),
            ("upvotes", .count(file.upvoteCount)),
            ("downvotes", .count(file.downvoteCount)),
            ("left_out", .array(file.leftOut.map(value))),
        ])
    }

    private static func value(_ post: LeftOutPost) -> JSONValue {
        .object([
            ("line", .integer(Int64(post.line))),
            ("field", .string(post.field)),
            ("reason", .string(post.reason)),
            ("value", .string(post.value)),
            ("actual", .count(post.actual)),
            ("limit", .count(post.limit)),
            ("message", .string(post.message)),
        ])
    }
}
