internal import FeedDataset
import FeedImport
import FeedProto

/// The files of a run and the outcome of their posts; bound to the run's thread.
package final class Dataset {
    let files: [DatasetFile]
    /// What was imported from each file so far.
    private(set) var imported: [ImportedFile] = []
    private var places: [UInt64: (file: Int, post: Int)] = [:]

    /// What was imported from one file.
    struct ImportedFile {
        /// The posts' ids in the order of the file, without those left out.
        var ids: [UInt64] = []
        /// The votes that each post is to get; ups and downs alternate.
        var planned: [UInt64] = []
        /// The posts with invalid values, and those that the service refuses.
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

    /// The votes that each post is to get; ups and downs alternate.
    var planned: [UInt64] { imported.flatMap(\.planned) }

    /// Why posts were left out, as one sentence for the first of them; nil where none was.
    var firstLeftOut: String? {
        for (file, imported) in zip(files, imported) {
            guard let post = imported.leftOut.first else { continue }
            return "\(file.name):\(post.line): \(post.message)"
        }
        return nil
    }

    /// Records the outcome of the next file's posts: the id of each, 0 of those that were left out,
    /// and those that the service refused.
    func take(ids: [UInt64], refused: [LeftOutPost]) {
        let file = imported.count
        let leftOut = files[file].leftOut + refused
        var result = ImportedFile(leftOut: leftOut.sorted { $0.line < $1.line })
        for (number, id) in ids.enumerated() where id > 0 {
            let post = files[file].posts[number]
            result.ids.append(id)
            result.planned += [post.upvoteCount, post.downvoteCount]
            places[id] = (file, number)
        }
        imported.append(result)
    }

    /// The feeds, which hold the posts of their file and no others, and the front page over all.
    var lists: [AuditedList] {
        let feeds = zip(files, imported).map { file, imported in
            AuditedList(
                feed: file.feed,
                expectation: FeedWalk.Expectation(scores: [:], isWhole: true),
                ids: Set(imported.ids)
            )
        }
        // The front page also lists the service's other posts, which are not of this run.
        let front = FeedWalk.Expectation(scores: [:], startMilliseconds: .max)
        return feeds + [AuditedList(feed: "", expectation: front)]
    }

    /// Compares a post as the service has it now with its file.
    func check(_ post: Post, _ findings: inout Findings) {
        guard let place = places[post.id] else { return }
        let file = files[place.file]
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
