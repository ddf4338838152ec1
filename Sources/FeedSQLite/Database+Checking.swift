import CSQLite

extension Database {
    /// What is wrong with the file, at most that many things; none where all is right.
    ///
    /// Reads all pages, and does not compare indexes with their tables.
    package func pageProblems(limit: Int = 10) throws(SQLiteError) -> [String] {
        let statement = try prepare("PRAGMA quick_check(\(limit))")
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
