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
                throw .badText(line: header.line, column: "\(index + 1)")
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

    /// The post of a record; what the file has no column for is empty or 0.
    func post(_ record: CSVRecord) throws(DatasetError) -> DatasetPost {
        guard record.fieldCount == names.count else {
            throw .fieldCount(
                line: record.line,
                actual: record.fieldCount,
                expected: names.count
            )
        }
        var post = DatasetPost(line: record.line)
        post.authorName = try text(author, record)
        post.title = try text(title, record)
        post.text = try text(text, record)
        post.linkURL = try text(link, record)
        post.thumbnailURL = Self.address(try text(thumbnail, record))
        post.createTimeMilliseconds = try milliseconds(time, record)
        post.commentCount = try count(comments, record)
        post.upvoteCount = try count(ups, record)
        post.downvoteCount = try count(downs, record)
        return post
    }

    /// Words that stand where a post has no picture of its own.
    private static func address(_ thumbnail: String) -> String {
        switch thumbnail {
        case "self", "default", "nsfw", "image": ""
        default: thumbnail
        }
    }

    private func text(_ column: Int?, _ record: CSVRecord) throws(DatasetError) -> String {
        guard let column else { return "" }
        guard let text = record.text(column) else {
            throw .badText(line: record.line, column: names[column])
        }
        return text
    }

    private func count(_ column: Int?, _ record: CSVRecord) throws(DatasetError) -> UInt64 {
        guard let column else { return 0 }
        guard let count = record.count(column) else {
            let text = try text(column, record)
            throw .badNumber(line: record.line, column: names[column], value: text)
        }
        return count
    }

    /// Reads Unix seconds, which may have a fraction.
    private func milliseconds(_ column: Int?, _ record: CSVRecord) throws(DatasetError) -> Int64 {
        guard let column else { return 0 }
        let text = try text(column, record)
        // Double reads hexadecimal numbers and words, too.
        guard text.utf8.allSatisfy(Self.numberBytes.contains), let seconds = Double(text),
            seconds >= 0, seconds <= Self.maximumSeconds
        else {
            throw .badNumber(line: record.line, column: names[column], value: text)
        }
        return Int64((seconds * 1000).rounded())
    }

    private static let numberBytes = Set("0123456789.eE+-".utf8)

    /// Up to here a fraction of a second has its milliseconds; it is the year 286,000.
    private static let maximumSeconds = 9e12
}
