package import FeedClient

/// Why an import ended before the end of its file.
package enum ImportFailure: Error, CustomStringConvertible {
    /// The file cannot be opened.
    case unreadable(path: String, reason: String)
    /// The file could not be read on.
    case badFile(path: String, reason: String, importedCount: Int)
    /// A call failed; what was imported before stands.
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
