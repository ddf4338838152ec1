package import FeedClient

/// Why an import ended before the end of its file.
package enum ImportFailure: Error, CustomStringConvertible {
    /// The file cannot be opened.
    case unreadable(path: String, reason: String)
    /// Reading the file failed before its end.
    case badFile(path: String, reason: String, importedCount: Int)
    /// A call failed; posts that were imported before stay.
    case call(FeedClientError, importedCount: Int)

    /// What happened, and how much of the file is in the feed.
    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .badFile(let path, let reason, let count):
            "\(path): \(reason) \(count) posts were imported before."
        case .call(let error, let count):
            "\(error.description) \(count) posts were imported before."
        }
    }
}
