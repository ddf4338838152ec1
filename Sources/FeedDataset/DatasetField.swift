/// What a column of a file may say of a post; the raw value is its name in `--columns`.
package enum DatasetField: String, CaseIterable, Sendable {
    case title, author, text, url, thumbnail, time, comments, upvotes, downvotes

    /// The names that columns have for it, the likeliest first.
    var usualNames: [String] {
        switch self {
        case .title, .author, .thumbnail: [rawValue]
        case .text: ["selftext", "text", "body"]
        case .url: ["url", "link"]
        case .time: ["created_utc", "created_at", "created", "timestamp"]
        case .comments: ["num_comments", "comms_num"]
        case .upvotes: ["ups", "upvotes", Self.score]
        case .downvotes: ["downs", "downvotes"]
        }
    }

    /// Upvotes minus downvotes; read where there is no count of upvotes.
    static let score = "score"

    /// The name that the contract gives the field.
    var contractName: String {
        switch self {
        case .title, .author, .text: rawValue
        case .url: "link_url"
        case .thumbnail: "thumbnail_url"
        case .time: "create_time_ms"
        case .comments: "comment_count"
        case .upvotes: "upvote_count"
        case .downvotes: "downvote_count"
        }
    }
}
