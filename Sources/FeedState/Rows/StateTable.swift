/// The tables whose rows are the state.
package enum StateTable: Int, CaseIterable, Sendable {
    /// What posts say.
    case posts = 0
    /// What was voted on posts.
    case counts
    /// Who voted how, where each voter has one vote.
    case ballots
    /// The devices of voters.
    case voters
    /// The feeds and their rules.
    case feeds
    /// The channels of clients, with the outcomes of their latest calls.
    case channels
    /// The users of voters.
    case userVoters
    /// The accounts of users.
    case accounts
    /// The sessions of users.
    case sessions
    /// What viewers have marked on posts.
    case marks
    /// What viewers have marked on all posts up to one.
    case markThroughs
    /// The posts that were deleted in the last day.
    case deletions

    /// Its name in the file.
    package var name: String {
        switch self {
        case .posts: "posts"
        case .counts: "counts"
        case .ballots: "ballots"
        case .voters: "voters"
        case .feeds: "feeds"
        case .channels: "channels"
        case .userVoters: "user_voters"
        case .accounts: "accounts"
        case .sessions: "sessions"
        case .marks: "marks"
        case .markThroughs: "mark_throughs"
        case .deletions: "deletions"
        }
    }

    /// The first format whose files have the table.
    private var firstFormat: Int64 {
        switch self {
        case .posts, .counts, .ballots, .voters, .feeds, .channels: 1
        case .userVoters, .accounts, .sessions, .marks, .markThroughs, .deletions: 2
        }
    }

    /// The tables of a file of a format.
    static func tables(of format: Int64) -> [StateTable] {
        allCases.filter { $0.firstFormat <= format }
    }

    /// The error of a row that is not what it should be.
    func damaged(_ key: String, _ reason: String) -> StateError {
        .damaged(table: name, key: key, reason: reason)
    }

    /// The error of a row whose checksum is another one.
    func wrongSum(_ key: String) -> StateError {
        damaged(key, "the checksum does not fit the row")
    }
}

/// The count of a table's rows and the sum of their checksums: they find a row that is gone or came
/// back, which the checksums of rows cannot find.
struct TableTotals: Equatable {
    /// How many rows there are.
    var rowCount: UInt64 = 0
    /// Their checksums, added up without carry.
    var sumOfSums: UInt64 = 0

    /// A row goes, comes or changes; nil where there is none.
    mutating func replace(_ old: UInt64?, by new: UInt64?) {
        if let old {
            rowCount &-= 1
            sumOfSums &-= old
        }
        if let new {
            rowCount &+= 1
            sumOfSums &+= new
        }
    }
}

extension [TableTotals] {
    /// The rows of all tables.
    var rowCount: UInt64 { reduce(0) { $0 &+ $1.rowCount } }
}
