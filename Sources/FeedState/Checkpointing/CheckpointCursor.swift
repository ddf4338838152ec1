import FeedRanking

/// How far a checkpoint is: which changes of the memtable are still to be written.
///
/// The parts follow one another so that a row comes after the rows that it refers to. A copy is
/// cheap, as the numbers themselves are shared.
struct CheckpointCursor {
    /// The changes of one kind, in the order in which kinds are written.
    enum Part: Int, CaseIterable {
        /// Devices, by their voters' numbers.
        case voters
        /// Users, by their voters' numbers.
        case userVoters
        /// Accounts and generations of sessions, by user.
        case accounts
        /// Sessions, by their places in the checkpoint's list.
        case sessions
        /// Posts, by id.
        case posts
        /// Chunks of marks, by key.
        case marks
        /// Marks through posts, by their places in the checkpoint's list.
        case markThroughs
        /// Channels, by number.
        case channels
    }

    /// Whether the feeds are still to be written; they come first, and all at once.
    var feedIsDue = true
    /// The changes that are written.
    var writtenCount = 0
    private var runs: [SortedRuns] = []
    /// The part of which the next change is taken.
    private var part = 0

    /// All changes of a memtable.
    init(_ memtable: borrowing Memtable) {
        for part in Part.allCases {
            let numbers: [UInt64] =
                switch part {
                case .voters: memtable.voters.keys.map { UInt64($0.rawValue) }
                case .userVoters: memtable.userVoters.keys.map { UInt64($0.rawValue) }
                case .accounts:
                    Array(
                        Set(memtable.accounts.accounts.keys)
                            .union(memtable.accounts.generations.keys)
                    )
                case .sessions: Array(0..<UInt64(memtable.accounts.sessions.count))
                case .posts: memtable.counts.ids()
                case .marks: memtable.marks.keys
                case .markThroughs: Array(0..<UInt64(memtable.marks.throughs.count))
                case .channels: memtable.channels.map(\.number)
                }
            runs.append(SortedRuns(numbers))
        }
    }

    /// Whether nothing is left to sort, so that ``next()`` may be called.
    var isReady: Bool { runs.allSatisfy(\.isReady) }

    /// Sorts a piece of what is left to sort.
    mutating func sortRun() {
        guard let index = runs.firstIndex(where: { !$0.isReady }) else { return }
        runs[index].sortRun()
    }

    /// The next change; nil where none is left.
    mutating func next() -> (part: Part, key: UInt64)? {
        while part < runs.count, let kind = Part(rawValue: part) {
            if let key = runs[part].next() { return (kind, key) }
            part += 1
        }
        return nil
    }
}
