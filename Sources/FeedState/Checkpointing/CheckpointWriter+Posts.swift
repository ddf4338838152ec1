import FeedRanking
import FeedSQLite

extension CheckpointWriter {
    /// Writes all that has changed of a post: its row, its ballots, its counts.
    ///
    /// They go into one transaction, so all rows of a post on the disk carry one revision, the one
    /// in its counts. If that revision is not older than the memtable's, an interrupted checkpoint
    /// has written the post already, and nothing is to be done.
    func write(
        _ id: UInt64,
        of memtable: borrowing Memtable,
        at time: Int64
    ) throws(StateError) {
        guard let news = memtable.counts[id] else { return }
        try enterChunk(CountsChunk.number(id))
        let place = CountsChunk.place(id)
        let old = chunk[place]
        if memtable.deletions.contains(id) {
            try remove(id, isThere: old.revision != 0)
            return try databaseErrors { () throws(SQLiteError) in
                try writeDeletion(of: id, revision: news.revision, at: time)
            }
        }
        guard old.revision < news.revision else { return }
        if let post = memtable.posts[id] {
            try databaseErrors { () throws(SQLiteError) in
                let sum = old.revision == 0 ? nil : try statements.post.sum.number(of: id)
                replace(
                    .posts,
                    sum,
                    by: try PostRow.write(post, with: statements.post.upsert),
                    byteCount: post.content.byteCount
                )
            }
        } else if old.revision == 0 {
            // A later record deleted it, and an interrupted checkpoint has written that already.
            return
        }
        try writeBallots(id, of: memtable)
        chunk[place] = CountsChunk.Entry(
            upvoteCount: news.upvoteCount,
            downvoteCount: news.downvoteCount,
            revision: news.revision,
            risingSum: news.risingSum.isInitial ? old.risingSum : news.risingSum.rawValue
        )
        chunkHasChanged = true
    }

    /// Writes the chunk of counts that is being changed.
    func flushChunk() throws(StateError) {
        guard let number = chunkNumber, chunkHasChanged else { return }
        try databaseErrors { () throws(SQLiteError) in
            var sum: UInt64?
            if chunk.newestRevision == 0 {
                try statements.counts.delete.run(for: number)
            } else {
                let row = statements.counts.upsert
                sum = try CountsRow.write(number, chunk, &buffer, with: row)
            }
            replace(.counts, chunkSum, by: sum, byteCount: sum == nil ? 0 : buffer.count)
            chunkSum = sum
        }
        chunkHasChanged = false
    }

    private func enterChunk(_ number: UInt64) throws(StateError) {
        guard chunkNumber != number else { return }
        try flushChunk()
        chunkNumber = nil
        let row = statements.counts.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try row.bind(number, at: 1)
            return try row.step()
        }
        if found {
            chunkSum = try CountsRow.read(row, into: &chunk)
        } else {
            chunk.clear()
            chunkSum = nil
        }
        chunkNumber = number
    }

    private func remove(_ id: UInt64, isThere: Bool) throws(StateError) {
        guard isThere else { return }
        try databaseErrors { () throws(SQLiteError) in
            let sum = try statements.post.sum.number(of: id)
            try statements.post.delete.run(for: id)
            replace(.posts, sum, by: nil)
            let sums = statements.ballotsOfPost.sums
            try sums.bind(id, at: 1)
            while try sums.step() { replace(.ballots, sums.uint64(0), by: nil) }
            try statements.ballotsOfPost.delete.run(for: id)
        }
        chunk[CountsChunk.place(id)] = CountsChunk.Entry()
        chunkHasChanged = true
    }

    private func writeBallots(_ id: UInt64, of memtable: borrowing Memtable) throws(StateError) {
        memtable.ballots.rows(of: id, into: &ballotRows)
        for row in ballotRows {
            let old = try readBallots(id, row.chunk)
            memtable.ballots.change(&ballotChunk, by: row)
            try writeBallots(id, row.chunk, over: old)
        }
    }

    /// Reads one row of ballots; nil where there is none.
    private func readBallots(_ id: UInt64, _ number: UInt32) throws(StateError) -> UInt64? {
        let row = statements.ballots.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try row.bind(id, at: 1)
            try row.bind(Int64(number), at: 2)
            return try row.step()
        }
        guard found else {
            ballotChunk.clear()
            return nil
        }
        return try BallotRow.read(row, into: &ballotChunk)
    }

    private func writeBallots(
        _ id: UInt64,
        _ number: UInt32,
        over old: UInt64?
    ) throws(StateError) {
        try databaseErrors { () throws(SQLiteError) in
            var sum: UInt64?
            if ballotChunk.count > 0 {
                let row = statements.ballots.upsert
                sum = try BallotRow.write(id, number, ballotChunk, &buffer, with: row)
            } else if old != nil {
                try statements.ballots.delete.bind(id, at: 1)
                try statements.ballots.delete.bind(Int64(number), at: 2)
                try statements.ballots.delete.run()
            }
            replace(.ballots, old, by: sum, byteCount: sum == nil ? 0 : buffer.count)
        }
    }
}
