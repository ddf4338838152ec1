internal import FeedDataset
import FeedProto

/// The files of a run and what became of their posts; bound to the run's thread.
package final class Dataset {
    let files: [DatasetFile]
    /// What was imported of each file so far.
    private(set) var imported: [ImportedFile] = []
    private var places: [UInt64: (file: Int, post: Int)] = [:]

    /// What was imported of one file.
    struct ImportedFile {
        /// The posts' ids in the order of the file, without those left out.
        var ids: [UInt64] = []
        /// What each post is to get, ups and downs in turn.
        var planned: [UInt64] = []
        /// The posts with values that no post may have, and those that the service does not take.
        var leftOut: [LeftOutPost] = []
    }

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

    /// The posts of all files, by the number that the run gives them.
    var postIDs: [UInt64] { imported.flatMap(\.ids) }

    /// What each post is to get, ups and downs in turn.
    var planned: [UInt64] { imported.flatMap(\.planned) }

    /// Why posts were left out, as one sentence for the first of them; nil where none was.
    var firstLeftOut: String? {
        for (file, imported) in zip(files, imported) {
            guard let post = imported.leftOut.first else { continue }
            return "\(file.name):\(post.line): \(post.message)"
        }
        return nil
    }

    /// The next file's posts were imported, or left out.
    func take(_ finished: PostImport) {
        let file = imported.count
        let leftOut = files[file].leftOut + finished.leftOut
        var result = ImportedFile(leftOut: leftOut.sorted { $0.line < $1.line })
        for (number, id) in finished.ids.enumerated() where id > 0 {
            let post = files[file].posts[number]
            result.ids.append(id)
            result.planned += [post.upvoteCount, post.downvoteCount]
            places[id] = (file, number)
        }
        imported.append(result)
    }

    /// The feeds, which have the posts of their file and no others, and the front page over all.
    var lists: [AuditedList] {
        let feeds = zip(files, imported).map { file, imported in
            AuditedList(
                feed: file.feed,
                expectation: FeedWalk.Expectation(scores: [:], isWhole: true),
                ids: Set(imported.ids)
            )
        }
        // Whatever else the service holds is on the front page too, and none of this run's.
        let front = FeedWalk.Expectation(scores: [:], startMilliseconds: .max)
        return feeds + [AuditedList(feed: "", expectation: front)]
    }

    /// Compares what a post says now with what its file says.
    func check(_ post: Post, _ findings: inout Findings) {
        guard let place = places[post.id] else { return }
        let file = files[place.file]
        let wanted = Post(file.posts[place.post])
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
        // By their bytes: equal strings may differ in those.
        for (name, wanted, found) in texts where !wanted.utf8.elementsEqual(found.utf8) {
            return name
        }
        if commentCount != post.commentCount { return "comment_count" }
        return createTimeMilliseconds == post.createTimeMilliseconds ? nil : "create_time_ms"
    }
}
