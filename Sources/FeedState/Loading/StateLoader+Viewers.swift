import FeedAccounts
import FeedLog
import FeedRanking
import FeedSQLite

/// The tables that format 1 lacks.
extension StateLoader {
    /// Reads the voters that are users.
    mutating func userVoters() throws(StateError) {
        let row = try statement(UserVoterRow.all)
        while isWanted, try row.next() {
            let (voter, user, sum) = try UserVoterRow.read(row)
            add(sum, to: .userVoters)
            give(.userVoter(voter, userID: user))
        }
    }

    /// Reads accounts, then sessions.
    mutating func accounts() throws(StateError) {
        let row = try statement(AccountsRow.all)
        while isWanted, try row.next() {
            let (account, generation, sum) = try AccountsRow.read(row)
            add(sum, to: .accounts)
            give(.account(account))
            if generation > 0 { give(.sessionsEnded(userID: account.id, generation: generation)) }
        }
        let session = try statement(SessionsRow.all)
        while isWanted, try session.next() {
            let (found, sum) = try SessionsRow.read(session)
            add(sum, to: .sessions)
            give(.session(found))
        }
    }

    /// Reads the posts that were deleted in the last day.
    mutating func deletions() throws(StateError) {
        let row = try statement(DeletionRow.all)
        while isWanted, try row.next() {
            let (deletion, sum) = try DeletionRow.read(row)
            add(sum, to: .deletions)
            if let deletion { give(deletion) }
        }
    }

    /// Reads the marks on posts, then those through posts.
    mutating func marks() throws(StateError) {
        let row = try statement(MarkRow.all)
        var chunk = MarkChunk()
        while isWanted, try row.next() {
            let (key, sum) = try MarkRow.read(row, into: &chunk)
            add(sum, to: .marks)
            let first = MarkChunk.number(of: key) * MarkChunk.postCount
            for entry in chunk.entries {
                let marks = PostMarks(
                    viewer: MarkChunk.viewer(of: key),
                    post: PostID(rawValue: first + UInt64(entry.place)),
                    marks: entry.marks,
                    revision: entry.revision
                )
                give(.marks(marks))
            }
        }
        let through = try statement(MarkThroughRow.all)
        while isWanted, try through.next() {
            let (mark, sum) = try MarkThroughRow.read(through)
            add(sum, to: .markThroughs)
            give(.markThrough(mark))
        }
    }
}
