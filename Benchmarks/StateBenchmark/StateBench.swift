import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport

/// One directory with a state, and log entries that only the benchmark makes.
struct StateBench {
    private let path: String
    let database: StateDatabase
    private var generator = SeededGenerator(seed: 1)
    var revision: UInt64 = 0
    private var number: UInt64 = 0
    private var lastID: UInt64 = 0
    /// The feed of the posts, and whether it keeps ballots.
    var feed = FeedID(rawValue: 0)
    var keepsBallots = false

    init(path: String) throws {
        self.path = path
        let files = try POSIXFiles(path: path)
        database = try StateDatabase.create(directory: path, files: files)
    }

    /// Adds votes on so many posts to a memtable, ten for each.
    mutating func addVotes(postCount: UInt64) {
        var generator = SeededGenerator(seed: 2)
        let bodies = (0..<500).map { _ in
            body(
                (0..<2_000).map { _ in
                    revision += 1
                    return .counts(
                        PostCounts(
                            id: PostID(rawValue: .random(in: 1...postCount, using: &generator)),
                            upvoteCount: 1_000,
                            downvoteCount: 100,
                            revision: revision
                        )
                    )
                }
            )
        }
        let reading = ContinuousClock().measure {
            for body in bodies {
                guard var reader = try? LogEntryReader(body) else { return }
                while (try? reader.next()) != nil {}
            }
        }
        var memtable = Memtable()
        let adding = ContinuousClock().measure {
            for body in bodies { try? memtable.add(body, at: position()) }
        }
        report("read a vote's log entry", reading / 1_000_000, "ns")
        report("read it and add it to a memtable, \(postCount) posts", adding / 1_000_000, "ns")
        var again = memtable.byteCount
        let warm = ContinuousClock().measure {
            for body in bodies { try? memtable.add(body, at: position()) }
        }
        again = memtable.byteCount
        report("the same again, \(again >> 20) MiB", warm / 1_000_000, "ns")
    }

    /// Makes posts with texts of some 120 bytes, up to an id.
    mutating func create(upTo count: UInt64) throws {
        let first = lastID + 1
        while lastID < count {
            var memtable = Memtable()
            let end = min(lastID + 50_000, count)
            let entries = (lastID + 1...end).map { id in LogEntry.post(post(id)) }
            try memtable.add(body(entries), at: position())
            lastID = end
            try checkpoint(memtable, "\(end - first + 1) new posts", isQuiet: end < count)
        }
    }

    /// Checkpoints votes on so many posts of those that there are.
    mutating func vote(onPosts count: Int, consecutive: Bool = false) throws {
        var memtable = Memtable()
        let all = Int(lastID)
        let entries = (0..<count).map { index in
            revision += 1
            // Spread evenly, in no order: a walk by a step that is prime to the number of posts.
            let id = consecutive ? index : index * 7_368_787 % all
            return LogEntry.counts(
                PostCounts(
                    id: PostID(rawValue: UInt64(id) + 1),
                    upvoteCount: .random(in: 0...5_000, using: &generator),
                    downvoteCount: .random(in: 0...500, using: &generator),
                    revision: revision
                )
            )
        }
        try memtable.add(body(entries), at: position())
        let kind = consecutive ? "consecutive" : "spread"
        try checkpoint(memtable, "votes on \(count) of \(all) posts, \(kind)")
    }

    /// Loads all of it.
    func load() throws {
        let store = FeedStore(stripeCount: 64) { 0 }
        var failure: (any Error)?
        let time = ContinuousClock().measure {
            do { try database.load(into: store, channels: { _, _ in }) } catch { failure = error }
        }
        if let failure { throw failure }
        report("load \(store.postCount) posts", time, "s")
        let reading = ContinuousClock().measure {
            do { try database.verify() } catch { failure = error }
        }
        if let failure { throw failure }
        report("verify", reading, "s")
    }

    /// The same votes into a table with a row a post, as the counts might have been kept.
    mutating func rowPerPost(onPosts count: Int) throws {
        let plain = try Database(path: path + "/plain.db")
        try plain.execute(
            """
            CREATE TABLE counts (id INTEGER PRIMARY KEY, up INTEGER NOT NULL,
                down INTEGER NOT NULL, revision INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT
            """
        )
        let row = try plain.prepare("INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?, ?)")
        let all = Int(lastID)
        func write(_ ids: [Int]) throws -> Duration {
            let clock = ContinuousClock()
            let start = clock.now
            for step in 0..<20 {
                try plain.execute("BEGIN")
                for id in ids[(step * ids.count / 20)..<((step + 1) * ids.count / 20)] {
                    revision += 1
                    try row.bind(Int64(id), at: 1)
                    try row.bind(Int64.random(in: 0...5_000, using: &generator), at: 2)
                    try row.bind(Int64.random(in: 0...500, using: &generator), at: 3)
                    try row.bind(revision, at: 4)
                    try row.bind(generator.next(), at: 5)
                    try row.run()
                }
                try plain.execute("COMMIT")
            }
            return clock.now - start
        }
        _ = try write(Array(1...all))
        let ids = (0..<count).map { $0 * 7_368_787 % all + 1 }.sorted()
        for _ in 0..<2 {
            report("a row a post instead, \(count) of \(all)", try write(ids) / count, "µs a post")
        }
    }

    mutating func checkpoint(
        _ memtable: consuming Memtable,
        _ what: String,
        isQuiet: Bool = false
    ) throws {
        let clock = ContinuousClock()
        let start = clock.now
        let count = memtable.changeCount
        let checkpoint = Checkpoint(memtable, into: database)
        let begun = clock.now
        var longest = Duration.zero
        var steps = 0
        while true {
            let stepStart = clock.now
            let isDone = try checkpoint.step { clock.now - stepStart > .milliseconds(4) }
            longest = max(longest, clock.now - stepStart)
            steps += 1
            if isDone { break }
        }
        guard !isQuiet else { return }
        report("checkpoint \(what)", (clock.now - start) / count, "µs a post")
        report("  its begin", begun - start, "ms")
        report("  the longest of \(steps) steps", longest, "ms")
    }

    private mutating func post(_ id: UInt64) -> PostState {
        revision += 1
        return PostState(
            counts: PostCounts(
                id: PostID(rawValue: id),
                upvoteCount: id % 100,
                downvoteCount: id % 7,
                revision: revision
            ),
            feed: feed,
            keepsBallots: keepsBallots,
            createTimeMilliseconds: 1_700_000_000_000 + Int64(id),
            updateTimeMilliseconds: 1_700_000_000_000 + Int64(id),
            editRevision: revision,
            content: PostContent(
                authorName: "author \(id % 1_000)",
                title: "The title of post \(id), as long as titles are",
                text: "",
                linkURL: "https://example.org/posts/of/the/benchmark/\(id)",
                thumbnailURL: "",
                imageURL: ""
            )
        )
    }

    mutating func position() -> JournalPosition {
        number += 1
        return JournalPosition(number: number, hash: number)
    }

    func body(_ entries: [LogEntry]) -> [UInt8] {
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        logs[0].transaction { for entry in entries { logs[0].append(entry) } }
        var body: [UInt8] = []
        _ = logs.takeBatch(into: &body)
        return body
    }

    func report(_ what: String, _ time: Duration, _ unit: String) {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let value =
            switch unit.first {
            case "n": seconds * 1e9
            case "µ": seconds * 1e6
            case "m": seconds * 1e3
            default: seconds
            }
        let rounded = (value * 100).rounded() / 100
        print("\(what): \(rounded) \(unit)")
    }
}
