import CSQLite

extension Database {
    /// What is wrong with the file, at most that many things; none where all is right.
    ///
    /// Reads all pages, and compares indexes with their tables.
    package func pageProblems(limit: Int = 10) throws(SQLiteError) -> [String] {
        let statement = try prepare("PRAGMA integrity_check(\(limit))")
        var problems: [String] = []
        do throws(SQLiteError) {
            while try statement.step() {
                guard let text = statement.text(0), text != "ok" else { continue }
                if let failure = Self.failedRead(text) { throw SQLiteError(failure) }
                problems.append(text)
            }
        } catch {
            // Some damage ends the check itself.
            guard case .corrupt(let failure) = error else { throw error }
            problems.append(failure.text)
        }
        return problems
    }

    /// A page that the disk did not give, which SQLite reports among the damage.
    ///
    /// For example "On tree page 5 cell 0: unable to get the page. error code=266".
    private static func failedRead(_ problem: String) -> SQLiteFailure? {
        let mark = "error code="
        guard let place = problem.firstRange(of: mark) else { return nil }
        let digits = problem[place.upperBound...].prefix { $0.isNumber }
        guard let code = Int32(digits), code & 0xFF == SQLITE_IOERR else { return nil }
        return SQLiteFailure(operation: "check the pages", code: code, text: "disk I/O error")
    }
}
