package import FeedClient

/// Why an import ended before the end of its file.
package enum ImportFailure: Error, CustomStringConvertible {
    /// The file cannot be opened, or holds no posts to import.
    case unreadable(path: String, reason: String)
    /// Reading the file failed before its end.
    case badFile(path: String, reason: String, ImportProgress)
    /// A call failed; posts that were imported before stay.
    case call(FeedClientError, ImportProgress)

    /// What happened, how much of the file is in the feed, and how to go on.
    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .badFile(let path, let reason, let progress):
            "\(path): \(reason) \(progress.description)"
        case .call(let error, let progress): "\(error.description) \(progress.description)"
        }
    }
}
