import FeedImport

/// The files of a run in the report.
enum DatasetText {
    /// The part of the heading that replaces the feed and the posts of a run.
    static func heading(_ dataset: DatasetResult) -> String {
        let count = dataset.files.count
        let feeds = count == 1 ? "feed \(dataset.files[0].feed)" : "\(count) feeds"
        return """
            \(feeds)  \(NumberFormat.count(UInt64(dataset.postCount))) posts  \
            \(NumberFormat.count(dataset.upvoteCount)) votes up and \
            \(NumberFormat.count(dataset.downvoteCount)) down\
            \(dataset.repeatCount == 1 ? "" : " (the files' × \(dataset.repeatCount))")
            """
    }

    /// The files and what was left out of them; the first line starts with `label`, the others with
    /// `indent`.
    static func lines(_ dataset: DatasetResult, label: String, indent: String) -> [String] {
        let seconds = NumberFormat.fixed(dataset.importSeconds, 2)
        var lines = [
            label + """
                \(NumberFormat.count(UInt64(dataset.postCount))) posts imported in \(seconds) s, \
                \(NumberFormat.count(UInt64(dataset.leftOutCount))) left out
                """
        ]
        for file in dataset.files {
            lines.append(
                indent + """
                    \(file.name) → \(file.feed)   \(NumberFormat.count(UInt64(file.postCount))) \
                    posts, \(NumberFormat.count(file.upvoteCount)) up, \
                    \(NumberFormat.count(file.downvoteCount)) down
                    """
            )
        }
        let leftOut = dataset.files.flatMap { file in
            file.leftOut.map { "\(file.name):\($0.line) left out: \($0.message)" }
        }
        lines += leftOut.prefix(maximumLeftOutCount).map { indent + $0 }
        if leftOut.count > maximumLeftOutCount {
            lines.append(
                indent + "and \(leftOut.count - maximumLeftOutCount) more, which --json lists"
            )
        }
        return lines
    }

    /// The most lines that people read on a screen.
    private static let maximumLeftOutCount = 200
}
