package import FeedDataset
package import FeedImport
import FeedProto
import Foundation

/// The files of a run, whole in memory.
package struct Dataset: Sendable {
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

    /// What is not read of each file without upvotes and what it lacks, a line each.
    package var columnNotes: [String] {
        files.filter { $0.columns.lacks(.upvotes) }
            .map { "\($0.name): \($0.columns.description)" }
    }
}

/// A file of posts, whole in memory, and the feed that it fills.
package struct DatasetFile: Sendable {
    package let path: String
    /// Its name without the extension in lowercase, with `-` for `_`.
    package let feed: String
    /// Its posts in their order, without those in `leftOut`.
    package let posts: [DatasetPost]
    /// The posts with an invalid value, in their order.
    package let leftOut: [LeftOutPost]
    let columns: ColumnUse

    var name: String { URL(filePath: path).lastPathComponent }

    /// Reads a file; refuses one whose name gives no name of a feed.
    package init(reading path: String, format: DatasetFormat = DatasetFormat()) throws(RunFailure) {
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

/// What a run of files will cast and how much memory it takes, said before anything is sent.
package struct DatasetOutline: Sendable, Equatable {
    private var fileCount: Int
    /// The posts in them, without those left out for a wrong value.
    package var postCount: Int
    /// The votes that the files record; `UInt64.max` where there are more.
    package var voteCount: UInt64
    package var repeatCount: UInt64
    package var scheduleByteCount: Int
    /// The memory that the counts for the audit take, over all threads.
    private var auditByteCount: Int

    package init(_ dataset: Dataset, _ configuration: RunConfiguration) {
        let posts = dataset.files.lazy.flatMap(\.posts)
        fileCount = dataset.files.count
        postCount = dataset.files.reduce(0) { $0 + $1.posts.count }
        voteCount = posts.map { [$0.upvoteCount, $0.downvoteCount].clampedSum }.clampedSum
        repeatCount = configuration.repeatCount
        let numberCount = 2 * postCount
        scheduleByteCount = PlannedVotes.byteCount(numberCount: numberCount)
        auditByteCount = PostSlab.byteCount(count: numberCount) * configuration.threadCount
    }

    /// The votes that are cast; `UInt64.max` where there are more.
    package var totalCount: UInt64 { voteCount.multipliedClamped(by: repeatCount) }

    package var description: String {
        let files = fileCount == 1 ? "1 file" : "\(fileCount) files"
        let times = repeatCount == 1 ? "" : " × \(NumberFormat.count(repeatCount))"
        let total =
            repeatCount == 1 ? "" : " = \(NumberFormat.count(totalCount)) votes"
        return """
            \(files), \(NumberFormat.count(UInt64(postCount))) posts, \
            \(NumberFormat.count(voteCount)) votes\(times)\(total) in one random order; memory beside \
            the files: \(NumberFormat.megabytes(Double(scheduleByteCount))) for the order, \
            \(NumberFormat.megabytes(Double(auditByteCount))) for the audit
            """
    }
}

/// The posts of files with the ids that the service gave them.
struct ImportedDataset: Sendable {
    /// What was imported from each file, in the order of the files.
    private(set) var files: [ImportedFile] = []
    let repeatCount: UInt64
    private var places: [UInt64: (file: Int, post: Int)] = [:]

    struct ImportedFile: Sendable {
        let file: DatasetFile
        /// The posts' ids in the order of the file, without those left out.
        var ids: [UInt64] = []
        /// The votes that each post is to get; ups and downs alternate.
        var planned: [UInt64] = []
        /// The posts with invalid values, and those that the service refuses.
        var leftOut: [LeftOutPost] = []
    }

    /// Nothing imported; the votes that the files record are planned `repeatCount` times over.
    init(repeatCount: UInt64) {
        self.repeatCount = repeatCount
    }

    mutating func begin(_ file: DatasetFile) {
        files.append(ImportedFile(file: file, leftOut: file.leftOut))
    }

    /// Adds the outcome of the next posts of the file that was begun last.
    mutating func add(_ batch: ImportedBatch) {
        let last = files.count - 1
        var file = files.removeLast()
        for (line, id) in zip(batch.lines, batch.ids) {
            guard let number = file.file.number(ofLine: line) else { continue }
            let post = file.file.posts[number]
            file.ids.append(id.rawValue)
            file.planned += [post.upvoteCount, post.downvoteCount].map {
                $0.multipliedClamped(by: repeatCount)
            }
            places[id.rawValue] = (last, number)
        }
        file.leftOut += batch.leftOut
        files.append(file)
    }

    /// Puts the posts that were left out of the file that was begun last in the order of its lines.
    mutating func finishFile() {
        files[files.count - 1].leftOut.sort { $0.line < $1.line }
    }

    /// The posts of all files, by the number that the run gives them.
    var postIDs: [UInt64] { files.flatMap(\.ids) }

    /// The votes that each post is to get; ups and downs alternate.
    var planned: [UInt64] { files.flatMap(\.planned) }

    var feeds: [RunRecord.Feed] {
        files.map { RunRecord.Feed(name: $0.file.feed, ids: $0.ids) }
    }

    /// Why posts were left out, as one sentence for the first of them; nil where none was.
    var firstLeftOut: String? {
        for file in files {
            guard let post = file.leftOut.first else { continue }
            return "\(file.file.name):\(post.line): \(post.message)"
        }
        return nil
    }

    /// Compares a post as the service has it now with its file.
    func check(_ post: Post, _ findings: inout Findings) {
        guard let place = places[post.id.rawValue] else { return }
        let file = files[place.file].file
        let wanted = Post(file.posts[place.post], .cast)
        guard let field = wanted.firstDifference(from: post, in: file.feed) else { return }
        findings.note(
            .changedContent,
            "Post \(post.id) has another \(field) than \(file.name):\(file.posts[place.post].line)."
        )
    }
}

extension Post {
    /// The first field in which a post differs from this one as it was imported.
    fileprivate func firstDifference(from post: Post, in feed: String) -> String? {
        let texts = [
            ("title", title, post.title), ("text", text, post.text), ("feed", feed, post.feed),
            ("link_url", linkURL, post.linkURL), ("image_url", imageURL, post.imageURL),
            ("thumbnail_url", thumbnailURL, post.thumbnailURL),
            ("author", author?.displayName ?? "", post.author?.displayName ?? ""),
        ]
        // Compared by bytes: equal strings may have different bytes.
        for (name, wanted, found) in texts where !wanted.utf8.elementsEqual(found.utf8) {
            return name
        }
        if commentCount != post.commentCount { return "comment_count" }
        return createTimeMilliseconds == post.createTimeMilliseconds ? nil : "create_time_ms"
    }
}

/// What a run did with its files, for the reports.
package struct DatasetResult: Sendable {
    package struct File: Sendable {
        package var path = ""
        package var feed = ""
        package var postCount = 0
        /// The votes up to cast: those that it records for them, as often as the run repeats them.
        package var upvoteCount: UInt64 = 0
        package var downvoteCount: UInt64 = 0
        package var leftOut: [LeftOutPost] = []

        package init() {}

        package var name: String { URL(filePath: path).lastPathComponent }
    }

    package var files: [File]
    package var importSeconds: Double
    /// How often the votes that the files record are cast.
    package var repeatCount: UInt64

    package init(files: [File], importSeconds: Double, repeatCount: UInt64 = 1) {
        self.files = files
        self.importSeconds = importSeconds
        self.repeatCount = repeatCount
    }

    package var postCount: Int { files.reduce(0) { $0 + $1.postCount } }
    package var leftOutCount: Int { files.reduce(0) { $0 + $1.leftOut.count } }
    package var upvoteCount: UInt64 { files.reduce(0) { $0 + $1.upvoteCount } }
    package var downvoteCount: UInt64 { files.reduce(0) { $0 + $1.downvoteCount } }

    init(_ dataset: ImportedDataset, importSeconds: Double) {
        let files = dataset.files.map { imported in
            var sums: [UInt64] = [0, 0]
            for (index, count) in imported.planned.enumerated() { sums[index % 2] += count }
            var file = File()
            (file.path, file.feed) = (imported.file.path, imported.file.feed)
            (file.postCount, file.leftOut) = (imported.ids.count, imported.leftOut)
            (file.upvoteCount, file.downvoteCount) = (sums[0], sums[1])
            return file
        }
        self.init(files: files, importSeconds: importSeconds, repeatCount: dataset.repeatCount)
    }
}

extension DatasetResult: JSONReadable {
    package static var unread: DatasetResult { DatasetResult(files: [], importSeconds: 0) }

    package static let members: [Member<DatasetResult>] = [
        .usual("import_seconds", \.importSeconds, .plain),
        .written("posts") { $0.postCount },
        .written("left_out") { $0.leftOutCount },
        .written("upvotes") { $0.upvoteCount },
        .written("downvotes") { $0.downvoteCount },
        .usual("repeat", \.repeatCount, .within(1...1_000_000)),
        .required("files", \.files, .plain),
    ]
}

extension DatasetResult.File: JSONReadable {
    package static var unread: DatasetResult.File { DatasetResult.File() }

    package static let members: [Member<DatasetResult.File>] = [
        .required("path", \.path, .plain),
        .required("feed", \.feed, .plain),
        .required("posts", \.postCount, .within(0...1_000_000_000)),
        .required("upvotes", \.upvoteCount, .within(0...1 << 41)),
        .required("downvotes", \.downvoteCount, .within(0...1 << 41)),
        .required(
            "left_out",
            \.leftOut,
            Form(write: { $0.map(LeftOut.init) }, read: { posts, _ in posts.map(\.post) })
        ),
    ]
}

/// A post that was not imported, with its message.
private struct LeftOut: JSONReadable {
    var post: LeftOutPost

    static var unread: LeftOut {
        LeftOut(post: LeftOutPost(line: 0, field: "", reason: "", actual: 0, limit: 0, message: ""))
    }

    static let members: [Member<LeftOut>] = [
        .required("line", \.post.line, .plain),
        .required("field", \.post.field, .plain),
        .required("reason", \.post.reason, .plain),
        .required("value", \.post.value, .plain),
        .required("actual", \.post.actual, .plain),
        .required("limit", \.post.limit, .plain),
        .required("message", \.post.message, .plain),
    ]
}
