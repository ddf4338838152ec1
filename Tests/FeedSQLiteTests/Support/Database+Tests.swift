import FeedSQLite

extension Database {
    /// What is wrong with the file: its pages, and indexes that differ from their tables.
    func integrityProblems() throws(SQLiteError) -> [String] {
        let statement = try prepare("PRAGMA integrity_check")
        var problems: [String] = []
        while try statement.step() {
            if let text = statement.text(0), text != "ok" { problems.append(text) }
        }
        return problems
    }
}

extension Statement {
    /// A copy of the column's bytes, nil for NULL.
    func blob(_ column: Int) -> [UInt8]? {
        guard !isNull(column) else { return nil }
        return withBlob(column) { bytes in bytes.indices.map { bytes[$0] } }
    }
}
