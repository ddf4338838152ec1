import FeedLog
import FeedRanking
import FeedSQLite

struct FeedRow: PendingRow {
    static let table = StateTable.feeds

    var id = FeedID(rawValue: 0)
    var policy = FeedPolicy(name: "")

    var key: FeedID { id }

    mutating func visit(_ columns: inout Columns) {
        columns.number("number", &id, as: .key)
        columns.text("name", &policy.name, isSummed: false)
        columns.number("default_order", &policy.defaultOrder)
        columns.number("vote_mode", &policy.voteMode)
        columns.number("maximum_title", &policy.maximumTitleCharacterCount)
        columns.number("minimum_text", &policy.minimumTextCharacterCount)
        columns.number("maximum_text", &policy.maximumTextCharacterCount)
        columns.sum(text: policy.name)
        columns.sumColumn()
    }

    func visitEntries(_ body: (LogEntry) -> Void) { body(.feed(id, policy)) }
}

struct VoterRow: PendingRow {
    static let table = StateTable.voters

    var voter = VoterID(rawValue: 0)
    var device = Device16(high: 0, low: 0)

    var key: VoterID { voter }

    mutating func visit(_ columns: inout Columns) {
        columns.number("number", &voter, as: .key)
        columns.bytes("device", &device)
        columns.sumColumn()
    }

    func visitEntries(_ body: (LogEntry) -> Void) { body(.voter(voter, device: device)) }
}

struct UserVoterRow: PendingRow {
    static let table = StateTable.userVoters

    var voter = VoterID(rawValue: 0)
    var user: UInt64 = 0

    var key: VoterID { voter }

    mutating func visit(_ columns: inout Columns) {
        columns.number("number", &voter, as: .key)
        columns.number("user", &user)
        columns.sumColumn()
    }

    func visitEntries(_ body: (LogEntry) -> Void) { body(.userVoter(voter, userID: user)) }
}

/// A row of `deletions`: a post that was deleted, which readers of changes may still have to learn; or
/// the one row of the revision up to which deletions are not kept.
struct DeletionRow: StateRow {
    static let table = StateTable.deletions

    private enum Kind: Int64 {
        case floor = 0
        case deletion = 1
    }

    /// Reads the revision and the checksum of the row of the floor.
    static let floor = "SELECT revision, sum FROM deletions WHERE kind = 0"

    private var kind = Kind.deletion.rawValue
    private var revision: UInt64 = 0
    private var post: UInt64 = 0
    /// That of the checkpoint, in Unix milliseconds.
    private var time: Int64 = 0

    init() {}

    init(revision: UInt64, post: UInt64, time: Int64) {
        self.revision = revision
        self.post = post
        self.time = time
    }

    init(floor: UInt64) {
        kind = Kind.floor.rawValue
        revision = floor
    }

    mutating func visit(_ columns: inout Columns) {
        columns.number("kind", &kind, as: .key)
        columns.number("revision", &revision, as: .key)
        columns.number("post", &post)
        columns.number("time", &time)
        columns.sumColumn()
        columns.require(fit: Kind(rawValue: kind) != nil)
    }

    static func name(of row: Statement) -> String { "row \(row.uint64(1))" }

    func visitEntries(_ body: (LogEntry) -> Void) {
        guard kind == Kind.deletion.rawValue else { return }
        body(.deletion(PostID(rawValue: post), revision: revision))
    }
}
