package import FeedJournal
package import FeedLog
import FeedRanking

/// The newest value of each key that log entries have changed since the last checkpoint.
///
/// It takes only durable commit batches, in their order. The journal must have all that a
/// checkpoint writes, as its replay mends a crash in the middle of a checkpoint.
package struct Memtable: ~Copyable {
    /// The last record that was added; `start` before the first.
    package private(set) var position = JournalPosition.start

    var counts = CountsTable()
    var posts = PendingPosts()
    var deletions: Set<UInt64> = []
    var ballots = PendingBallots()
    var voters: [VoterID: Device16] = [:]
    var userVoters: [VoterID: UInt64] = [:]
    var accounts = PendingAccounts()
    var marks = PendingMarks()
    var feeds: [FeedID: FeedPolicy] = [:]
    var channels: [PendingChannel] = []
    private(set) var highestID: UInt64 = 0
    private(set) var highestRevision: UInt64 = 0
    private(set) var nextChannel: UInt64 = 0

    private var channelPlaces: [UInt64: Int] = [:]
    private var lastChannelPlace: Int?
    private var channelByteCount = 0

    /// An empty memtable.
    package init() {}

    /// Whether no record was added and no row deleted.
    package var isEmpty: Bool { position == .start && channels.isEmpty }

    /// About the bytes of memory it takes.
    package var byteCount: Int {
        counts.byteCount + ballots.byteCount + channelByteCount + posts.byteCount
            + accounts.byteCount + marks.byteCount
            + deletions.capacity * 9 + voters.capacity * 24 + userVoters.capacity * 16
            + channels.capacity * MemoryLayout<PendingChannel>.stride
    }

    /// The posts, channels, voters, accounts, sessions and marks that have changed.
    package var changeCount: Int {
        counts.count + channels.count + voters.count + userVoters.count + accounts.count
            + marks.count + marks.throughs.count
    }

    /// Takes the log entries of a record; O(entries).
    package mutating func add(
        _ body: [UInt8],
        at position: JournalPosition
    ) throws(LogEntryError) {
        var reader = try LogEntryReader(body)
        while !reader.isAtEnd { add(try reader.take()) }
        endRecord(at: position)
    }

    /// All log entries of a record were taken, one by one.
    mutating func endRecord(at position: JournalPosition) {
        counts.flush()
        ballots.flush()
        self.position = position
    }

    /// Deletes the rows of forgotten channels, unless outcomes of them are added later.
    package mutating func deleteRows(ofChannels numbers: [UInt64]) {
        for number in numbers {
            let place = channelPlace(number)
            channelByteCount -= channels[place].byteCount
            channels[place].isDeleted = true
            channels[place].state = nil
            channels[place].removeOutcomes()
        }
    }

    /// Takes one log entry; O(1).
    mutating func add(_ entry: LogEntry) {
        switch entry {
        case .counts(let counts): add(counts)
        case .ballot(let counts, let voter, let direction):
            add(counts)
            ballots.set(counts.id, voter, direction)
        case .post(let post):
            add(post.counts)
            posts.set(post)
        case .deletion(let id, let revision):
            add(
                PostCounts(id: id, upvoteCount: 0, downvoteCount: 0, revision: revision)
            )
            posts.remove(id.rawValue)
            deletions.insert(id.rawValue)
        case .feed(let id, let policy): feeds[id] = policy
        case .voter(let voter, let device): voters[voter] = device
        case .channel(let state):
            let place = channelPlace(state.number)
            channels[place].state = state
            channels[place].isDeleted = false
            nextChannel = max(nextChannel, state.number + 1)
        case .outcome(let outcome): add(outcome)
        case .userVoter(let voter, let user): userVoters[voter] = user
        case .account, .session, .sessionEnded, .sessionsEnded: accounts.add(entry)
        case .marks(let news):
            highestRevision = max(highestRevision, news.revision)
            marks.set(news)
        case .markThrough(let mark):
            highestRevision = max(highestRevision, mark.revision)
            marks.set(mark)
        case .counters(let lastID, let revision):
            highestID = max(highestID, lastID)
            highestRevision = max(highestRevision, revision)
        }
    }

    /// Takes the counts of posts; O(counts).
    mutating func add(_ counts: [PostCounts]) {
        for news in counts { add(news) }
    }

    @inline(__always)
    private mutating func add(_ news: PostCounts) {
        counts.set(news)
        highestID = max(highestID, news.id.rawValue)
        highestRevision = max(highestRevision, news.revision)
    }

    private mutating func add(_ outcome: ChannelOutcome) {
        let place = channelPlace(outcome.channel)
        channelByteCount -= channels[place].byteCount
        channels[place].isDeleted = false
        channels[place].set(outcome)
        channelByteCount += channels[place].byteCount
    }

    /// The channel's place; the entries of one transaction mostly name the same channel in a row.
    private mutating func channelPlace(_ number: UInt64) -> Int {
        if let place = lastChannelPlace, channels[place].number == number { return place }
        if let place = channelPlaces[number] {
            lastChannelPlace = place
            return place
        }
        channelPlaces[number] = channels.count
        lastChannelPlace = channels.count
        channels.append(PendingChannel(number: number))
        return channels.count - 1
    }
}
