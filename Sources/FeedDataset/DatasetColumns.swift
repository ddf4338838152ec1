/// The columns that posts are read from; a file may have others, and they may stand in any order.
struct DatasetColumns {
    /// Which columns are read, and which are not.
    let use: ColumnUse
    private let names: [String]
    private let places: [DatasetField: Int]
    private let title: Int
    private let time: TimeFormat
    /// Whether the column of upvotes has upvotes minus downvotes.
    private let hasScores: Bool

    /// The columns that a file's first record names: those of the format, and others by their usual names.
    init(_ header: CSVRecord, _ format: DatasetFormat) throws(DatasetError) {
        var names: [String] = []
        for index in 0..<header.fieldCount {
            guard let name = header.text(index) else {
                throw .badColumnName(line: header.line, column: index + 1)
            }
            names.append(name)
        }
        var places: [DatasetField: Int] = [:]
        for field in DatasetField.allCases {
            guard let name = format.columns[field] else { continue }
            guard let place = try Self.place(of: name, in: names) else {
                throw .missingColumn(name, for: field, among: names)
            }
            places[field] = place
        }
        for field in DatasetField.allCases where places[field] == nil {
            for name in field.usualNames {
                guard let place = try Self.place(of: name, in: names),
                    !places.values.contains(place)
                else { continue }
                places[field] = place
                break
            }
        }
        guard let title = places[.title] else {
            throw .missingColumn(DatasetField.title.usualNames[0], for: .title, among: names)
        }
        self.names = names
        self.places = places
        self.title = title
        time = format.time
        hasScores = places[.upvotes].map { Self.folded(names[$0]) == DatasetField.score } ?? false
        use = ColumnUse(names, places)
    }

    /// The column of a name: the one that is written so, else the one that is in other case and spaces.
    private static func place(of name: String, in names: [String]) throws(DatasetError) -> Int? {
        let folded = folded(name)
        for isMatch in [{ $0 == name }, { Self.folded($0) == folded }] as [(String) -> Bool] {
            guard let place = names.firstIndex(where: isMatch) else { continue }
            guard names.lastIndex(where: isMatch) == place else { throw .repeatedColumn(name) }
            return place
        }
        return nil
    }

    private static func folded(_ name: String) -> String {
        name.lowercased().split(separator: " ").joined(separator: " ")
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
        post.authorName = try text(.author, record)
        post.title = try text(.title, record)
        post.text = try text(.text, record)
        post.linkURL = try text(.url, record)
        post.thumbnailURL = Self.address(try text(.thumbnail, record))
        if let place = places[.time] {
            guard let text = record.text(place), let time = time.milliseconds(text) else {
                throw rejection(.badTime, .time, record)
            }
            post.createTimeMilliseconds = time
        }
        post.commentCount = try count(.comments, record)
        (post.upvoteCount, post.downvoteCount) = try votes(record)
        return post
    }

    /// Words that stand where a post has no picture of its own.
    private static func address(_ thumbnail: String) -> String {
        switch thumbnail {
        case "self", "default", "nsfw", "image", "spoiler": ""
        default: thumbnail
        }
    }

    private func text(_ field: DatasetField, _ record: CSVRecord) throws(RejectedPost) -> String {
        guard let place = places[field] else { return "" }
        guard let text = record.text(place) else { throw rejection(.badText, field, record) }
        return text
    }

    private func count(_ field: DatasetField, _ record: CSVRecord) throws(RejectedPost) -> UInt64 {
        guard let place = places[field] else { return 0 }
        guard let count = record.number(place), !count.isNegative || count.magnitude == 0 else {
            throw rejection(.badCount, field, record)
        }
        return count.magnitude
    }

    /// The votes of a post: a count below 0 is of downvotes where there are no others.
    private func votes(_ record: CSVRecord) throws(RejectedPost) -> (up: UInt64, down: UInt64) {
        guard let place = places[.upvotes] else { return (0, try count(.downvotes, record)) }
        guard let up = record.number(place) else { throw rejection(.badCount, .upvotes, record) }
        let hasNoDownvotes = places[.downvotes].map { record.number($0)?.magnitude == 0 } ?? true
        if up.isNegative, hasNoDownvotes { return (0, up.magnitude) }
        guard !up.isNegative || hasScores else { throw rejection(.badCount, .upvotes, record) }
        let down = try count(.downvotes, record)
        guard hasScores else { return (up.magnitude, down) }
        let (upvotes, isOut) =
            up.isNegative
            ? down.subtractingReportingOverflow(up.magnitude)
            : down.addingReportingOverflow(up.magnitude)
        guard !isOut else { throw rejection(.badCount, .upvotes, record) }
        return (upvotes, down)
    }

    private func rejection(
        _ cause: RejectedPost.Cause,
        _ field: DatasetField,
        _ record: CSVRecord
    ) -> RejectedPost {
        let place = places[field] ?? title
        return RejectedPost(
            line: record.line,
            column: names[place],
            field: field,
            cause: cause,
            value: record.repairedText(place),
            time: time
        )
    }
}

/// Which columns of a file are read, and what of a post none says.
package struct ColumnUse: Encodable, Equatable, Sendable {
    /// The names of the columns that are read, by their fields.
    package let read: [String: String]
    /// The names of the others, as far as they have names.
    package let unread: [String]
    /// The usual names of columns for what the file has none for.
    package let missing: [String]

    init(_ names: [String], _ places: [DatasetField: Int]) {
        let pairs = places.map { ($0.key.rawValue, names[$0.value].printableStart) }
        read = Dictionary(uniqueKeysWithValues: pairs)
        let read = Set(places.values)
        unread = names.indices.filter { !read.contains($0) && !names[$0].isEmpty }
            .map { names[$0].printableStart }
        missing = DatasetField.allCases.filter { places[$0] == nil }.map { $0.usualNames[0] }
    }

    /// Whether no column says it.
    package func lacks(_ field: DatasetField) -> Bool { read[field.rawValue] == nil }

    /// A sentence for what is not read and one for what is missing, safe to print; empty where neither is.
    package var description: String {
        var sentences: [String] = []
        if !unread.isEmpty { sentences.append("Columns that are not read: \(unread.quotedList).") }
        if !missing.isEmpty {
            let names = DatasetField.allCases.filter(lacks).map { "\($0.rawValue)=NAME" }
            sentences.append(
                "There is no column \(missing.joined(separator: ", ")): "
                    + "--columns \(names.joined(separator: ",")) names others."
            )
        }
        return sentences.joined(separator: " ")
    }
}

/// What a column of a file may say of a post; the raw value is its name in `--columns`.
package enum DatasetField: String, CaseIterable, Sendable {
    case title, author, text, url, thumbnail, time, comments, upvotes, downvotes

    /// The names that columns have for it, the likeliest first.
    var usualNames: [String] {
        switch self {
        case .title, .author, .thumbnail: [rawValue]
        case .text: ["selftext", "text", "body"]
        case .url: ["url", "link"]
        case .time: ["created_utc", "created_at", "created", "timestamp"]
        case .comments: ["num_comments", "comms_num"]
        case .upvotes: ["ups", "upvotes", Self.score]
        case .downvotes: ["downs", "downvotes"]
        }
    }

    /// Upvotes minus downvotes; read where there is no count of upvotes.
    static let score = "score"

    /// The name that the contract gives the field.
    var contractName: String {
        switch self {
        case .title, .author, .text: rawValue
        case .url: "link_url"
        case .thumbnail: "thumbnail_url"
        case .time: "create_time_ms"
        case .comments: "comment_count"
        case .upvotes: "upvote_count"
        case .downvotes: "downvote_count"
        }
    }
}
