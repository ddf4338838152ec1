internal import FeedAccounts
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
    private(set) var counts = CountsTable()
    private(set) var posts = PendingRows<PostRow>()
    private(set) var deletions: Set<UInt64> = []
    private(set) var ballots = PendingBallots()
    private var feeds = PendingRows<FeedRow>()
    private var voters = PendingRows<VoterRow>()
    private var userVoters = PendingRows<UserVoterRow>()
    private var accounts = PendingAccounts()
    private var marks = PendingMarks()
    private var markThroughs = PendingRows<MarkThroughRow>()
    private var channels: [PendingChannel] = []
    private(set) var highestID: UInt64 = 0
    private(set) var highestRevision: UInt64 = 0
    private(set) var nextChannel: UInt64 = 0
    /// The sessions that ``write(_:_:by:at:)`` names by their places.
    private var sessions: [TokenHash]?
    private var channelPlaces: [UInt64: Int] = [:]
    private var lastChannelPlace: Int?
    private var channelByteCount = 0
    /// The channels that the record under way evicts.
    private var evictedChannels: [UInt64] = []

    package init() {}

    /// Whether no record was added and no row deleted.
    package var isEmpty: Bool { position == .start && channels.isEmpty }

    /// Whether what it replaces is to leave the files: an account was deleted.
    var erases: Bool { accounts.erases }

    package var byteCount: Int {
        counts.byteCount + ballots.byteCount + channelByteCount + posts.byteCount
            + accounts.byteCount + marks.byteCount + markThroughs.byteCount
            + deletions.capacity * 9 + voters.byteCount + userVoters.byteCount
            + channels.capacity * MemoryLayout<PendingChannel>.stride
    }

    /// The posts, channels, feeds, voters, accounts, sessions and marks that have changed.
    package var changeCount: Int {
        counts.count + channels.count + feeds.count + voters.count + userVoters.count
            + accounts.count + marks.count + markThroughs.count
    }

    /// Takes the log entries of a record, which begin at an index of its body; O(entries).
    package mutating func add(
        _ body: [UInt8],
        from start: Int = 0,
        at position: JournalPosition
    ) throws(LogEntryError) {
        var reader = try LogEntryReader(body.span.extracting(droppingFirst: start))
        while !reader.isAtEnd { add(try reader.take()) }
        endRecord(at: position)
    }

    /// All log entries of a record were taken, one by one.
    mutating func endRecord(at position: JournalPosition) {
        counts.flush()
        ballots.flush()
        if !evictedChannels.isEmpty {
            deleteRows(ofChannels: evictedChannels)
            evictedChannels.removeAll()
        }
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

    mutating func add(_ entry: LogEntry) {
        switch entry {
        case .counts(let counts): add(counts)
        case .ballot(let counts, let voter, let direction):
            add(counts)
            ballots.set(counts.id, voter, direction)
        case .post(let post):
            add(post.counts)
            posts.set(PostRow(post))
        case .deletion(let id, let revision):
            add(PostCounts(id: id, upvoteCount: 0, downvoteCount: 0, revision: revision))
            posts.remove(id.rawValue)
            deletions.insert(id.rawValue)
        case .feed(let id, let policy): feeds.set(FeedRow(id: id, policy: policy))
        case .voter(let voter, let device):
            voters.set(VoterRow(voter: voter, device: device))
        case .channel(let state):
            let place = channelPlace(state.number)
            channels[place].state = state
            channels[place].isDeleted = false
            nextChannel = max(nextChannel, state.number + 1)
        case .outcome(let outcome): add(outcome)
        // Its channel's entries may come later in the record, as those of another loop.
        case .evictedChannel(let number): evictedChannels.append(number)
        case .userVoter(let voter, let user):
            userVoters.set(UserVoterRow(voter: voter, user: user))
        case .account, .session, .sessionEnded, .sessionsEnded: accounts.add(entry)
        case .marks(let news):
            highestRevision = max(highestRevision, news.revision)
            marks.set(news)
        case .markThrough(let mark):
            highestRevision = max(highestRevision, mark.revision)
            markThroughs.set(MarkThroughRow(mark))
        case .counters(let lastID, let revision):
            highestID = max(highestID, lastID)
            highestRevision = max(highestRevision, revision)
        }
    }

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

extension Memtable {
    /// The changes of one kind, in the order in which kinds are written: a row follows the rows that it
    /// refers to, so the rows on the disk can always be loaded.
    enum Part: Int, CaseIterable {
        case feeds
        case voters
        case userVoters
        /// Accounts and generations of sessions.
        case accounts
        case sessions
        case posts
        case marks
        case markThroughs
        case channels
    }

    /// Prepares ``write(_:_:by:at:)``; nothing is added afterwards.
    mutating func close() { sessions = Array(accounts.sessions.keys) }

    private func closed(_ sessions: [TokenHash]?) -> [TokenHash] {
        guard let sessions else {
            preconditionFailure("A memtable is closed before it is written.")
        }
        return sessions
    }

    /// Sorts a piece of the ballots (``PendingBallots/sortPiece()``).
    mutating func sortBallots() { ballots.sortPiece() }

    /// The numbers of the changes of a kind, in any order: users, ids of posts, keys of chunks and numbers
    /// of channels, and places of others.
    func numbers(of part: Part) -> [UInt64] {
        switch part {
        case .feeds: Array(0..<UInt64(feeds.count))
        case .voters: Array(0..<UInt64(voters.count))
        case .userVoters: Array(0..<UInt64(userVoters.count))
        case .accounts:
            Array(Set(accounts.accounts.keys).union(accounts.generations.keys))
        case .sessions: Array(0..<UInt64(closed(sessions).count))
        case .posts: counts.ids()
        case .marks: marks.keys
        case .markThroughs: Array(0..<UInt64(markThroughs.count))
        case .channels: channels.map(\.number)
        }
    }

    func write(
        _ part: Part,
        _ number: UInt64,
        by writer: CheckpointWriter,
        at time: Int64
    ) throws(StorageError) {
        switch part {
        case .feeds: try writer.write(feeds[place: number])
        case .voters: try writer.write(voters[place: number])
        case .userVoters: try writer.write(userVoters[place: number])
        case .accounts: try writer.writeAccount(number, of: accounts)
        case .sessions:
            let hash = closed(sessions)[Int(number)]
            if let session = accounts.sessions[hash] {
                try writer.write(hash, session, of: accounts)
            }
        case .posts: try writer.writePost(number, of: self, at: time)
        case .marks: try writer.writeMarks(number, marks[number])
        case .markThroughs: try writer.writeNewer(markThroughs[place: number])
        case .channels:
            if let place = channelPlaces[number] { try writer.write(channels[place]) }
        }
    }
}
