/// Reads the posts of a file of comma-separated values, piece by piece: a file need not fit into
/// memory.
///
/// ```
/// var reader = DatasetReader()
/// while let bytes = try file.nextPiece() {
///     reader.append(bytes)
///     while let row = try reader.next() { use(row) }
/// }
/// reader.finish()
/// while let row = try reader.next() { use(row) }
/// ```
package struct DatasetReader {
    private let format: DatasetFormat
    private var records = CSVReader()
    private var record = CSVRecord()
    private var columns: DatasetColumns?
    private var isFinished = false

    /// A reader at the start of a file.
    package init(format: DatasetFormat = DatasetFormat()) {
        self.format = format
    }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        records.append(bytes)
    }

    /// Says that the file ends here; the last posts may come only now.
    package mutating func finish() {
        isFinished = true
        records.finish()
    }

    /// Which columns of the file are read; nil where the first line needs more bytes.
    package mutating func columnUse() throws(DatasetError) -> ColumnUse? {
        try readColumns()?.use
    }

    /// The next row; nil where it needs more bytes first, or where a finished file has no more.
    ///
    /// A wrong value costs its own row alone. After an error, which means that the structure of the
    /// file is broken, nothing more can be read.
    package mutating func next() throws(DatasetError) -> DatasetRow? {
        guard let columns = try readColumns(), try records.read(into: &record) else { return nil }
        return try columns.row(record)
    }

    private mutating func readColumns() throws(DatasetError) -> DatasetColumns? {
        if let columns { return columns }
        guard try records.read(into: &record) else {
            if isFinished { throw .empty }
            return nil
        }
        columns = try DatasetColumns(record, format)
        return columns
    }
}

/// One row of a file: a post, or the reason why the row gives none.
package enum DatasetRow: Equatable, Sendable {
    /// A post with the values of its row.
    case post(DatasetPost)
    /// The row has a value that no post may have.
    case rejected(RejectedPost)

    /// The line of the file that it begins on.
    package var line: Int {
        switch self {
        case .post(let post): post.line
        case .rejected(let rejection): rejection.line
        }
    }
}

/// A post as a file has it: what it says, and what became of it elsewhere.
package struct DatasetPost: Equatable, Sendable {
    /// The line of the file that it begins on, counted from 1.
    package var line: Int
    /// Who wrote it; empty where the file does not say.
    package var authorName = ""
    /// Verbatim, entities and line breaks included.
    package var title = ""
    /// Verbatim; empty where the post is but a link.
    package var text = ""
    /// Where it leads; empty is nowhere.
    package var linkURL = ""
    /// A small picture; empty is none.
    package var thumbnailURL = ""
    /// When it was created, since the Unix epoch.
    package var createTimeMilliseconds: Int64 = 0
    package var commentCount: UInt64 = 0
    package var upvoteCount: UInt64 = 0
    package var downvoteCount: UInt64 = 0

    /// A post of which only the line is known.
    package init(line: Int) {
        self.line = line
    }
}

/// A post of a file that has a value which no post may have; the posts around it are valid.
package struct RejectedPost: Error, Equatable, Sendable {
    /// What kind of value is wrong; the raw value is the service's name for the cause.
    package enum Cause: String, Sendable {
        /// A text is not UTF-8.
        case badText = "BAD_TEXT"
        /// A count is no whole number that fits 64 bits.
        case badCount = "BAD_COUNT"
        /// A time is no number of seconds in the range of times.
        case badTime = "BAD_TIME"
    }

    /// The line of the file that the post begins on, counted from 1.
    package let line: Int
    /// The name that the file gives the column.
    package let column: String
    /// The name that the contract gives the field.
    package let field: String
    package let cause: Cause
    /// The start of the value, safe to print: U+FFFD stands for bytes that are not UTF-8, and
    /// `(empty)` for no bytes.
    package let value: String
    /// The bound that the value passes; 0 for a value that is below 0 or no number at all.
    package let limit: UInt64
    /// What is wrong, in a sentence with the column, the value and the limits; safe to print.
    package let message: String

    /// A post that is rejected for the value of one column.
    ///
    /// - Parameters:
    ///   - line: The line that the post begins on.
    ///   - column: The column's name in the file.
    ///   - field: What the column says of posts.
    ///   - cause: What kind of value is wrong.
    ///   - value: The whole value.
    ///   - time: How the file's times are written.
    init(
        line: Int,
        column: String,
        field: DatasetField,
        cause: Cause,
        value: String,
        time: TimeFormat
    ) {
        self.line = line
        self.column = column
        self.field = field.contractName
        self.cause = cause
        self.value = value.isEmpty ? "(empty)" : value.printableStart
        let maximum =
            switch cause {
            case .badText: UInt64(0)
            case .badCount: UInt64.max
            case .badTime: time.maximum
            }
        let isTooLarge = maximum > 0 && (Double(value) ?? 0) >= Double(maximum)
        limit = isTooLarge ? maximum : 0
        let expected =
            switch cause {
            case .badText: "not UTF-8"
            case .badCount: "no whole number from 0 to \(maximum)"
            case .badTime: time.expectation
            }
        message = "\(column.quotedStart) is \(value.quotedStart), which is \(expected)."
    }
}
