import FeedAccounts
import FeedLog
import FeedRanking
import FeedSQLite

/// Reads the tables, each row once, and adds up their totals.
struct StateLoader {
    let database: Database
    /// The file's format, which says which tables it has.
    let format: Int64

    /// The totals that each table should have.
    private let expected: [TableTotals]

    /// The totals of the rows read so far.
    private var found: [TableTotals]

    /// What was read and not sent.
    private var rows = LoadedRows()
    /// Takes what was read; false where no more is wanted.
    private let send: (LoadedRows) -> Bool
    private(set) var isWanted = true

    /// Reads with this connection, after another loader has read the rows of `found`.
    init(
        _ database: Database,
        _ totals: [TableTotals],
        format: Int64,
        found: [TableTotals]? = nil,
        send: @escaping (LoadedRows) -> Bool = { _ in true }
    ) {
        self.database = database
        self.format = format
        self.send = send
        expected = totals
        self.found = found ?? [TableTotals](repeating: TableTotals(), count: totals.count)
    }

    /// Notes a row.
    mutating func add(_ sum: UInt64, to table: StateTable) {
        found[table.rawValue].replace(nil, by: sum)
    }

    /// A statement to go through.
    func statement(_ sql: String) throws(StateError) -> Statement {
        try databaseErrors { () throws(SQLiteError) in try database.prepare(sql) }
    }

    /// Reads all tables but the channels, and sends their rows.
    ///
    /// Where a row is damaged, those before it are sent first.
    mutating func readAll() throws(StateError) {
        defer { sendRows() }
        try feeds()
        try voters()
        if format >= 2 {
            try userVoters()
            try accounts()
        }
        try posts()
        if format >= 2 {
            try deletions()
            try marks()
        }
    }

    /// Sends a log entry together with others.
    mutating func give(_ entry: LogEntry) {
        rows.append(entry)
        if rows.isFull { sendRows() }
    }

    private mutating func sendRows() {
        rows.found = found
        isWanted = isWanted && send(rows)
        rows = LoadedRows()
    }

    private mutating func feeds() throws(StateError) {
        let row = try statement(FeedRow.all)
        while isWanted, try row.next() {
            let (id, policy, sum) = try FeedRow.read(row)
            add(sum, to: .feeds)
            give(.feed(id, policy))
        }
    }

    private mutating func voters() throws(StateError) {
        let row = try statement(VoterRow.all)
        while isWanted, try row.next() {
            let (voter, device, sum) = try VoterRow.read(row)
            add(sum, to: .voters)
            give(.voter(voter, device: device))
        }
    }

    /// Reads the channels.
    mutating func channels(
        _ body: (ChannelState, [ChannelOutcome]) -> Void
    ) throws(StateError) {
        let row = try statement(ChannelRow.all)
        var ring = OutcomeRing()
        while try row.next() {
            let (channel, sum) = try ChannelRow.read(row, into: &ring)
            add(sum, to: .channels)
            body(channel, ring.outcomes)
        }
    }

    /// Throws where a table has rows too few or too many, or one of another time.
    func checkTotals() throws(StateError) {
        for table in StateTable.allCases {
            let found = found[table.rawValue]
            let expected = expected[table.rawValue]
            guard found.rowCount == expected.rowCount else {
                throw table.damaged(
                    "all rows",
                    "there are \(found.rowCount), and there should be \(expected.rowCount)"
                )
            }
            guard found == expected else {
                throw table.damaged("all rows", "one of them is of another time than the others")
            }
        }
    }
}

extension Statement {
    /// Goes to the next row; false when there is none.
    func next() throws(StateError) -> Bool {
        do {
            return try step()
        } catch {
            throw .database(error)
        }
    }
}

extension StateLoader {
    /// Reads posts, counts and ballots side by side, each in the order of posts.
    ///
    /// A post without counts, counts without a post and ballots without a post are damage.
    mutating func posts() throws(StateError) {
        let row = try statement(PostRow.all(format: format))
        var counts = CountsCursor(try statement(CountsRow.all))
        var ballots = BallotCursor(try statement(BallotRow.all))
        var last: UInt64 = 0
        try ballots.next(&self)
        while isWanted, try row.next() {
            let id = row.uint64(0)
            guard id > last else {
                throw StateTable.posts.damaged("row \(id)", "it comes after row \(last)")
            }
            last = id
            let entry = try counts.entry(of: id, &self)
            let (post, sum) = try PostRow.read(row, entry)
            add(sum, to: .posts)
            let of = post.counts
            give(.post(post))
            while ballots.post == id {
                ballots.visit { voter, direction in give(.ballot(of, voter, direction)) }
                try ballots.next(&self)
            }
            try ballots.check(isBehind: id)
        }
        try counts.finish(&self)
        try ballots.check(isBehind: .max)
    }
}

/// The rows of counts, in the order of posts.
private struct CountsCursor {
    private let row: Statement
    private var chunk = CountsChunk()
    private var number: UInt64?
    /// The place after the last post that was asked for.
    private var next = CountsChunk.postCount

    init(_ row: Statement) {
        self.row = row
    }

    /// The counts of a post, which comes after the last one; no other post has counts in between.
    mutating func entry(
        of id: UInt64,
        _ loader: inout StateLoader
    ) throws(StateError) -> CountsChunk.Entry {
        let wanted = CountsChunk.number(id)
        while number != wanted {
            try finishChunk()
            guard try advance(&loader), let number, number <= wanted else {
                throw StateTable.posts.damaged("row \(id)", "there are no counts of it")
            }
        }
        let place = CountsChunk.place(id)
        try check(next..<place)
        next = place + 1
        guard chunk[place].revision != 0 else {
            throw StateTable.posts.damaged("row \(id)", "there are no counts of it")
        }
        return chunk[place]
    }

    /// Throws where counts are left, of posts that are not there.
    mutating func finish(_ loader: inout StateLoader) throws(StateError) {
        repeat { try finishChunk() } while try advance(&loader)
    }

    private mutating func advance(_ loader: inout StateLoader) throws(StateError) -> Bool {
        guard try row.next() else { return false }
        loader.add(try CountsRow.read(row, into: &chunk), to: .counts)
        let new = row.uint64(0)
        if let number, new <= number {
            throw StateTable.counts.damaged("row \(new)", "it comes after row \(number)")
        }
        number = new
        next = 0
        return true
    }

    private func finishChunk() throws(StateError) {
        try check(next..<CountsChunk.postCount)
    }

    private func check(_ places: Range<Int>) throws(StateError) {
        for place in places where chunk[place].revision != 0 {
            let id = (number ?? 0) * UInt64(CountsChunk.postCount) + UInt64(place)
            throw StateTable.counts.damaged(
                "row \(number ?? 0)",
                "it has counts of post \(id), which is not there"
            )
        }
    }
}

/// The rows of ballots, in the order of posts.
private struct BallotCursor {
    private let row: Statement
    private var chunk = BallotChunk()
    private var number: UInt32 = 0

    /// The post whose ballots are at hand; nil after the last.
    private(set) var post: UInt64?

    init(_ row: Statement) {
        self.row = row
    }

    /// Goes to the next row.
    mutating func next(_ loader: inout StateLoader) throws(StateError) {
        guard try row.next() else {
            post = nil
            return
        }
        loader.add(try BallotRow.read(row, into: &chunk), to: .ballots)
        post = row.uint64(0)
        number = UInt32(truncatingIfNeeded: row.uint64(1))
    }

    /// Calls `body` with each ballot of the row.
    func visit(_ body: (VoterID, VoteDirection) -> Void) {
        chunk.visit { place, direction in
            let voter = number * UInt32(BallotChunk.voterCount) + UInt32(place)
            body(VoterID(rawValue: voter), direction)
        }
    }

    /// Throws where the row is of a post up to this one, which should have been read with it.
    func check(isBehind id: UInt64) throws(StateError) {
        guard let post, post < id else { return }
        throw StateTable.ballots.damaged(
            "row (\(post), \(number))",
            "post \(post) is not there"
        )
    }
}

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
