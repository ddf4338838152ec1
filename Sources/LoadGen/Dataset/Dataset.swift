package import FeedDataset
package import FeedImport
internal import Foundation

/// The files of a run, whole in memory.
package struct Dataset: Sendable {
    /// The files, each with a feed of its own.
    let files: [DatasetFile]

    /// Reads files, with `--columns` and `--time-format` as typed; refuses two that would fill the same feed.
    package init(
        reading paths: [String],
        columns: String? = nil,
        timeFormat: String? = nil
    ) throws(RunFailure) {
        let format: DatasetFormat
        do {
            format = try DatasetFormat(columns: columns, time: timeFormat)
        } catch {
            throw .badFormat(error.description)
        }
        var files: [DatasetFile] = []
        for path in paths {
            let file = try DatasetFile(reading: path, format: format)
            if let other = files.first(where: { $0.feed == file.feed }) {
                throw .badFile(path, "The feed \"\(file.feed)\" is filled by \(other.path).")
            }
            files.append(file)
        }
        self.files = files
    }
}

extension Dataset {
    /// What is not read of each file without upvotes and what it lacks, a line each.
    package var columnNotes: [String] {
        files.filter { $0.columns.lacks(.upvotes) }
            .map { "\($0.name): \($0.columns.description)" }
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
    /// Which of its columns are read.
    let columns: ColumnUse

    /// The file's name without the folders before it.
    var name: String { URL(filePath: path).lastPathComponent }

    /// Reads a file; refuses one whose name gives no name of a feed.
    package init(
        reading path: String,
        format: DatasetFormat = DatasetFormat()
    ) throws(RunFailure) {
        self.path = path
        feed = URL(filePath: path).deletingPathExtension().lastPathComponent
            .lowercased().replacing("_", with: "-")
        guard RunConfiguration.feedName(feed) != nil else {
            throw .badFile(path, "\"\(feed)\" cannot be the name of a feed.")
        }
        do {
            var rows = try RowReader(path: path, format: format)
            columns = rows.columns
            (posts, leftOut) = try Self.read(&rows)
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

    private static func read(_ rows: inout RowReader) throws -> ([DatasetPost], [LeftOutPost]) {
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
