import FeedTestSupport
import Foundation

/// A file of settings for a test, removed with it.
struct WrittenFile {
    let path: String
    private let directory: TemporaryDirectory

    init(_ text: String, name: String = "feed-service.yaml") throws {
        directory = try TemporaryDirectory()
        path = "\(directory.path)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}
