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

    /// Adds the next bytes of the file.
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
