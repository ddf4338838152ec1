package import FeedDataset
package import FeedImport
internal import Foundation

/// The files of a run, whole in memory.
package struct Dataset: Sendable {
    /// The files, each with a feed of its own.
    let files: [DatasetFile]

    /// Reads files; refuses two that would fill the same feed.
    package init(reading paths: [String]) throws(RunFailure) {
        var files: [DatasetFile] = []
        for path in paths {
            let file = try DatasetFile(reading: path)
            if let other = files.first(where: { $0.feed == file.feed }) {
                throw .badFile(path, "The feed \"\(file.feed)\" is filled by \(other.path).")
            }
            files.append(file)
        }
        self.files = files
    }
}

/// A file of posts, whole in memory, and the feed that it fills.
package struct DatasetFile: Sendable {
    /// Where it is.
    package let path: String
    /// Its name without the extension in lowercase, with `-` for `_`.
    package let feed: String
    /// Its posts in their order, without those in `leftOut`.
    package let posts: [DatasetPost]
    /// The posts with an invalid value, in their order.
    package let leftOut: [LeftOutPost]

    /// The file's name without the folders before it.
    var name: String { URL(filePath: path).lastPathComponent }

    /// Reads a file; refuses one whose name gives no name of a feed.
    package init(reading path: String) throws(RunFailure) {
        self.path = path
        feed = URL(filePath: path).deletingPathExtension().lastPathComponent
            .lowercased().replacing("_", with: "-")
        guard RunConfiguration.feedName(feed) != nil else {
            throw .badFile(path, "\"\(feed)\" cannot be the name of a feed.")
        }
        do {
            (posts, leftOut) = try Self.read(path)
        } catch let error as DatasetError {
            throw .badFile(path, error.description)
        } catch {
            throw .badFile(path, error.localizedDescription)
        }
    }

    /// The number of the post that begins on a line; nil where none does; O(log n).
    func number(ofLine line: Int) -> Int? {
        var range = posts.indices
        while let first = range.first {
            let middle = first + range.count / 2
            if posts[middle].line == line { return middle }
            range = posts[middle].line < line ? middle + 1..<range.upperBound : first..<middle
        }
        return nil
    }

    private static func read(_ path: String) throws -> ([DatasetPost], [LeftOutPost]) {
        var rows = try RowReader(path: path)
        var posts: [DatasetPost] = []
        var leftOut: [LeftOutPost] = []
        while let row = try rows.next() {
            switch row {
            case .post(let post): posts.append(post)
            case .rejected(let rejection): leftOut.append(LeftOutPost(rejection))
            }
        }
        return (posts, leftOut)
    }
}
