import FeedLog
import FeedRanking

/// Rows that were read and checked ahead of the thread that puts them into the store.
struct LoadedRows: Sendable {
    /// How many log entries are sent to the other thread at once, and about how many bytes of
    /// texts.
    private static let maximumEntryCount = 1024
    private static let maximumTextByteCount = 1 << 20

    /// What the rows hold, in the order of ``StateDatabase/visit(_:_:_:)``.
    private(set) var entries: [LogEntry] = []
    private var textByteCount = 0
    /// The totals of all rows up to here.
    var found: [TableTotals] = []

    /// No rows yet.
    init() { entries.reserveCapacity(Self.maximumEntryCount) }

    /// Whether they should be sent.
    var isFull: Bool {
        entries.count == Self.maximumEntryCount || textByteCount >= Self.maximumTextByteCount
    }

    /// Adds what was read.
    mutating func append(_ entry: LogEntry) {
        if case .post(let post) = entry { textByteCount += post.content.byteCount }
        entries.append(entry)
    }
}

extension LogEntry {
    /// The error of the row that this was read from.
    func damagedRow(_ reason: String) -> StateError {
        switch self {
        case .feed(let feed, _): StateTable.feeds.damaged("row \(feed.rawValue)", reason)
        case .voter(let voter, _): StateTable.voters.damaged("row \(voter.rawValue)", reason)
        case .post(let post): StateTable.posts.damaged("row \(post.counts.id.rawValue)", reason)
        case .ballot(let counts, let voter, _):
            StateTable.ballots.damaged("voter \(voter) of \(counts.id.rawValue)", reason)
        case .userVoter(let voter, _):
            StateTable.userVoters.damaged("row \(voter.rawValue)", reason)
        case .marks(let marks):
            StateTable.marks.damaged("post \(marks.post) of \(marks.viewer.rawValue)", reason)
        case .deletion(let id, _): StateTable.deletions.damaged("post \(id.rawValue)", reason)
        case .markThrough(let mark):
            StateTable.markThroughs.damaged("viewer \(mark.viewer.rawValue)", reason)
        default: StateTable.posts.damaged("the counters", reason)
        }
    }
}
