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
    private var records = CSVReader()
    private var record = CSVRecord()
    private var columns: DatasetColumns?
    private var isFinished = false

    /// A reader at the start of a file.
    package init() {}

    /// Adds the next bytes of the file.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        records.append(bytes)
    }

    /// Says that the file ends here; the last posts may come only now.
    package mutating func finish() {
        isFinished = true
        records.finish()
    }

    /// The next row; nil where it needs more bytes first, or where a finished file has no more.
    ///
    /// A wrong value costs its own row alone. After an error, which means that the structure of the
    /// file is broken, nothing more can be read.
    package mutating func next() throws(DatasetError) -> DatasetRow? {
        if columns == nil {
            guard try records.read(into: &record) else {
                if isFinished { throw .empty }
                return nil
            }
            columns = try DatasetColumns(record)
        }
        guard let columns, try records.read(into: &record) else { return nil }
        return try columns.row(record)
    }
}
