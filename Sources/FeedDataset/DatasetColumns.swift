/// The columns that posts are read from; a file may have others, and they may stand in any order.
struct DatasetColumns {
    private let names: [String]
    private let title: Int
    private let author: Int?
    private let text: Int?
    private let link: Int?
    private let thumbnail: Int?
    private let time: Int?
    private let comments: Int?
    private let ups: Int?
    private let downs: Int?

    /// The columns that a file's first record names: `title`, and where it has them `author`,
    /// `selftext`, `url`, `thumbnail`, `created_utc`, `num_comments`, `ups` and `downs`.
    init(_ header: CSVRecord) throws(DatasetError) {
        var places: [String: Int] = [:]
        var names: [String] = []
        for index in 0..<header.fieldCount {
            guard let name = header.text(index) else {
                throw .badColumnName(line: header.line, column: index + 1)
            }
            names.append(name)
            guard places.updateValue(index, forKey: name) == nil else {
                throw .repeatedColumn(name)
            }
        }
        guard let title = places["title"] else { throw .missingColumn("title") }
        self.names = names
        self.title = title
        author = places["author"]
        text = places["selftext"]
        link = places["url"]
        thumbnail = places["thumbnail"]
        time = places["created_utc"]
        comments = places["num_comments"]
        ups = places["ups"]
        downs = places["downs"]
    }

    /// The post of a record, or why it gives none; what the file has no column for is empty or 0.
    ///
    /// Throws where the record has more or fewer fields than there are columns: which value belongs
    /// to which column is then unknown, also for the lines after it.
    func row(_ record: CSVRecord) throws(DatasetError) -> DatasetRow {
        guard record.fieldCount == names.count else {
            throw .fieldCount(
                line: record.line,
                actual: record.fieldCount,
                expected: names.count
            )
        }
        do throws(RejectedPost) {
            return .post(try post(record))
        } catch {
            return .rejected(error)
        }
    }

    private func post(_ record: CSVRecord) throws(RejectedPost) -> DatasetPost {
        var post = DatasetPost(line: record.line)
        post.authorName = try text("author", author, record)
        post.title = try text("title", title, record)
        post.text = try text("text", text, record)
        post.linkURL = try text("link_url", link, record)
        post.thumbnailURL = Self.address(try text("thumbnail_url", thumbnail, record))
        post.createTimeMilliseconds = try milliseconds("create_time_ms", time, record)
        post.commentCount = try count("comment_count", comments, record)
        post.upvoteCount = try count("upvote_count", ups, record)
        post.downvoteCount = try count("downvote_count", downs, record)
        return post
    }

    /// Words that stand where a post has no picture of its own.
    private static func address(_ thumbnail: String) -> String {
        switch thumbnail {
        case "self", "default", "nsfw", "image": ""
        default: thumbnail
        }
    }

    private func text(
        _ field: String,
        _ column: Int?,
        _ record: CSVRecord
    ) throws(RejectedPost) -> String {
        guard let column else { return "" }
        guard let text = record.text(column) else {
            throw rejection(.badText, field, column, record)
        }
        return text
    }

    private func count(
        _ field: String,
        _ column: Int?,
        _ record: CSVRecord
    ) throws(RejectedPost) -> UInt64 {
        guard let column else { return 0 }
        guard let count = record.count(column) else {
            throw rejection(.badCount, field, column, record)
        }
        return count
    }

    /// Reads Unix seconds, which may have a fraction.
    private func milliseconds(
        _ field: String,
        _ column: Int?,
        _ record: CSVRecord
    ) throws(RejectedPost) -> Int64 {
        guard let column else { return 0 }
        // Double reads hexadecimal numbers and words, too.
        guard let text = record.text(column),
            text.utf8.allSatisfy(Self.numberBytes.contains), let seconds = Double(text),
            seconds >= 0, seconds <= Self.maximumSeconds
        else { throw rejection(.badTime, field, column, record) }
        return Int64((seconds * 1000).rounded())
    }

    private func rejection(
        _ cause: RejectedPost.Cause,
        _ field: String,
        _ column: Int,
        _ record: CSVRecord
    ) -> RejectedPost {
        RejectedPost(
            line: record.line,
            column: names[column],
            field: field,
            cause: cause,
            value: record.repairedText(column)
        )
    }

    private static let numberBytes = Set("0123456789.eE+-".utf8)

    /// Up to here a fraction of a second has its milliseconds; it is the year 286,000.
    static let maximumSeconds = 9e12
}
