import FeedRanking
import FeedSQLite

/// What viewers have marked.
extension CheckpointWriter {
    /// Writes the marks of a viewer on the posts of a chunk.
    func writeMarks(_ key: UInt64, _ news: [PostMarks]) throws(StateError) {
        let old = try readMarks(key)
        markChunk.merge(news)
        try databaseErrors { () throws(SQLiteError) in
            var sum: UInt64?
            if !markChunk.entries.isEmpty {
                sum = try MarkRow.write(key, markChunk, &buffer, with: statements.marks.upsert)
            } else if old != nil {
                let row = statements.marks.delete
                try MarkRow.bind(key, to: row)
                try row.run()
            }
            replace(.marks, old, by: sum, byteCount: sum == nil ? 0 : buffer.count)
        }
    }

    /// Writes a viewer's mark through a post, unless a newer one is at its place.
    func write(_ mark: MarkThrough) throws(StateError) {
        let stored = try readMark(at: mark)
        guard stored?.mark.revision ?? 0 < mark.revision else { return }
        try databaseErrors { () throws(SQLiteError) in
            let new = try MarkThroughRow.write(mark, with: statements.markThrough.upsert)
            replace(.markThroughs, stored?.sum, by: new)
        }
    }

    /// Reads the marks of a chunk; gives the row's checksum, nil where there is none.
    private func readMarks(_ key: UInt64) throws(StateError) -> UInt64? {
        let row = statements.marks.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try MarkRow.bind(key, to: row)
            return try row.step()
        }
        guard found else {
            markChunk.clear()
            return nil
        }
        return try MarkRow.read(row, into: &markChunk).sum
    }

    /// Reads the mark that a mark would replace.
    private func readMark(
        at mark: MarkThrough
    ) throws(StateError) -> (mark: MarkThrough, sum: UInt64)? {
        let row = statements.markThrough.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try MarkThroughRow.bindKey(of: mark, to: row)
            return try row.step()
        }
        guard found else { return nil }
        let (stored, sum) = try MarkThroughRow.read(row)
        return (stored, sum)
    }
}
