import FeedLog
import FeedRanking
import FeedSQLite

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
