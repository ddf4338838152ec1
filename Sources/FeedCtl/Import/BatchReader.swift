internal import FeedDataset
internal import FeedImport

/// Reads a file of posts batch by batch; the file need not fit into memory.
struct BatchReader {
    private var rows: RowReader
    /// The row that had no room in the last batch.
    private var pending: DatasetRow?

    /// Opens a file.
    init(path: String) throws(ImportFailure) {
        do {
            rows = try RowReader(path: path)
        } catch {
            throw .unreadable(path: path, reason: error.systemReason)
        }
    }

    /// The next batch; nil after the last one.
    mutating func next() throws -> ImportBatch? {
        var batch = ImportBatch(votes: .imported)
        while let row = try pending.take() ?? rows.next() {
            guard batch.hasRoom(for: row) else {
                pending = row
                break
            }
            batch.append(row)
        }
        return batch.isEmpty ? nil : batch
    }
}
