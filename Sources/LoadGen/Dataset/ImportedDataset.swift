internal import FeedDataset
import FeedImport
import FeedProto

/// The posts of files with the ids that the service gave them.
struct ImportedDataset: Sendable {
    /// What was imported from each file, in the order of the files.
    private(set) var files: [ImportedFile] = []
    /// How often the votes that the files record are planned.
    let repeatCount: UInt64
    private var places: [UInt64: (file: Int, post: Int)] = [:]

    /// What was imported from one file.
    struct ImportedFile: Sendable {
        /// The file.
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

    /// Adds a file of which no post is imported yet.
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
            file.ids.append(id)
            file.planned += [post.upvoteCount, post.downvoteCount].map {
                $0.multipliedClamped(by: repeatCount)
            }
            places[id] = (last, number)
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

    /// The feeds that the files filled.
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
        guard let place = places[post.id] else { return }
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
