import CSQLite

extension Database {
    /// What is wrong with the file, at most that many things; none where all is right.
    ///
    /// Reads everything: the order of each table and index, and that they agree.
    package func integrityProblems(limit: Int = 10) throws(SQLiteError) -> [String] {
        try problems("PRAGMA integrity_check(\(limit))")
    }

    /// The same without comparing indexes to their tables, and much faster.
    package func pageProblems(limit: Int = 10) throws(SQLiteError) -> [String] {
        try problems("PRAGMA quick_check(\(limit))")
    }

    private func problems(_ sql: String) throws(SQLiteError) -> [String] {
        let statement = try prepare(sql)
        var problems: [String] = []
        do {
            while try statement.step() {
                if let text = statement.text(0), text != "ok" { problems.append(text) }
            }
        } catch {
            // Some damage ends the check itself.
            guard case .corrupt(let failure) = error else { throw error }
            problems.append(failure.text)
        }
        return problems
    }
}
