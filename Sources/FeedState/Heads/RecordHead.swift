package import FeedJournal
internal import FeedSQLite

/// What a record of a cluster has before its log entries.
///
/// ```
/// 0 HEAD  4 format u32  8 level u32  12 count of log entries u32
/// 16 microseconds of the leader  24 chain over all records before
/// ```
/// Each number has its least byte first. A record of one machine begins with the length of a part: read as
/// one, the first four bytes would be over 1 GiB, which no record has. So each record tells itself whether
/// it has a head.
package struct RecordHead: Equatable, Sendable {
    /// The bytes that it takes.
    package static let byteCount = 32
    /// The format of heads that this program writes.
    package static let format: UInt32 = 1
    /// The level that has accounts that were changed and tokens that reset passwords; 1 has channels that are
    /// evicted.
    static let accountChangesLevel: UInt32 = 2
    /// The newest level of log entries that this program reads.
    package static let newestLevel = accountChangesLevel
    /// The level with which a cluster begins now; one that began before rises to it.
    package static let firstLevel = newestLevel
    /// "HEAD".
    private static let mark: UInt32 = 0x4441_4548

    /// What a program has to know to read the log entries.
    package var level: UInt32
    package var entryCount: UInt32
    /// When the leader made the record, in microseconds since 1970; never below the last one's.
    package var microseconds: UInt64
    /// ``RecordChain/hash`` as of the record before.
    package var chain: UInt64

    package init(level: UInt32, entryCount: UInt32, microseconds: UInt64, chain: UInt64) {
        self.level = level
        self.entryCount = entryCount
        self.microseconds = microseconds
        self.chain = chain
    }

    /// The head of a record, for who reads levels up to one; nil where it has none.
    package init?(
        of body: Span<UInt8>,
        record: UInt64,
        newestLevel: UInt32 = Self.newestLevel
    ) throws(RecordHeadError) {
        var reader = ByteReader()
        guard reader.uint32(body) == Self.mark, let format = reader.uint32(body),
            let level = reader.uint32(body), let entryCount = reader.uint32(body),
            let microseconds = reader.uint64(body), let chain = reader.uint64(body)
        else { return nil }
        guard format <= Self.format else {
            throw .newerFormat(record: record, format: format, known: Self.format)
        }
        guard level <= newestLevel else {
            throw .newerLevel(record: record, level: level, known: newestLevel)
        }
        self.level = level
        self.entryCount = entryCount
        self.microseconds = microseconds
        self.chain = chain
    }

    /// Writes the head over the first bytes of a body.
    func write(over body: inout [UInt8]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        for number in [Self.mark, Self.format, level, entryCount] {
            bytes.append(littleEndian: number)
        }
        bytes.append(littleEndian: microseconds)
        bytes.append(littleEndian: chain)
        body.replaceSubrange(..<Self.byteCount, with: bytes)
    }
}

/// The records of a journal as far as they were read or written: what the next record's head has to say.
///
/// Only a cluster's records have heads. They begin behind the last record that its first directory had when
/// it was one machine's; in the directory of one machine no record has one. A record without bytes, which
/// no service has written, needs none.
package struct RecordChain: Equatable, Sendable {
    /// The chain of one machine's directory.
    package static let ofOneMachine = RecordChain(beginning: .max, hash: 0, level: 0)

    /// The last record before the cluster's own; the greatest number where there is no cluster.
    package private(set) var beginning: UInt64
    /// XXH3 over the last record, seeded with the hash before it: equal on all machines of a cluster.
    package private(set) var hash: UInt64
    /// The highest level of a record so far.
    package private(set) var level: UInt32
    /// When the last record with a head was made; 0 before the first.
    package private(set) var microseconds: UInt64 = 0
    /// The newest level that who takes the records reads.
    package internal(set) var newestLevel = RecordHead.newestLevel
    /// Whether the first head that comes is believed, as what is before it is not known.
    private var takesAnyFirst = false

    private init(beginning: UInt64, hash: UInt64, level: UInt32) {
        self.beginning = beginning
        self.hash = hash
        self.level = level
    }

    /// The chain of a cluster that begins behind a record of one machine's directory.
    package init(after position: JournalPosition, level: UInt32 = RecordHead.firstLevel) {
        self.init(beginning: position.number, hash: position.hash, level: level)
    }

    package var isOfCluster: Bool { beginning != .max }

    /// The bytes that a record of the cluster has before its log entries.
    package var headByteCount: Int { isOfCluster ? RecordHead.byteCount : 0 }

    /// The same chain where records are read from one on that it does not reach to, as of a backup that is
    /// older than the cluster, or from the first record on.
    package var believingFirst: RecordChain {
        var chain = self
        chain.beginning = .max
        chain.takesAnyFirst = true
        return chain
    }

    /// Writes the head of the record that comes next into the room that its body has for it.
    ///
    /// Of the level of the record before, unless a higher one is named. Does nothing in the directory of
    /// one machine.
    package func seal(
        _ body: inout [UInt8],
        entryCount: Int,
        at microseconds: UInt64,
        level: UInt32 = 0
    ) {
        guard isOfCluster else { return }
        RecordHead(
            level: max(level, self.level),
            entryCount: UInt32(clamping: entryCount),
            microseconds: max(microseconds, self.microseconds),
            chain: hash
        ).write(over: &body)
    }

    /// Takes the record that comes next, if its head continues the chain; gives the head.
    package mutating func take(
        _ body: Span<UInt8>,
        record: UInt64
    ) throws(RecordHeadError) -> RecordHead? {
        let head = try RecordHead(of: body, record: record, newestLevel: newestLevel)
        if takesAnyFirst, let head {
            (beginning, hash, level, takesAnyFirst) = (record - 1, head.chain, head.level, false)
        }
        guard record > beginning else {
            guard head == nil else { throw .unexpected(record: record) }
            return nil
        }
        if let head {
            guard head.chain == hash else {
                throw .otherChain(record: record, found: head.chain, expected: hash)
            }
            level = max(level, head.level)
            microseconds = head.microseconds
        } else if !body.isEmpty {
            throw .missing(record: record)
        }
        hash = RecordHash.xxh3(body, seed: hash)
        return head
    }
}

/// The one row of `cluster`, a table that files have from format 3 on: the chain as of `checkpointed`.
///
/// Where there is no cluster, the row says so. So a file without a row is damaged, and is not served as one
/// machine's.
extension RecordChain: OneRow {
    static let tableName = "cluster"
    static let seed: UInt64 = 0x636C_7573_7465_72

    init() { self = .ofOneMachine }

    mutating func visit(_ columns: inout Columns) {
        columns.one()
        columns.number("begins_after", &beginning)
        columns.number("chain", &hash)
        columns.number("level", &level)
        columns.number("microseconds", &microseconds)
        columns.sumColumn()
    }

    static func read(_ database: Database) throws(StorageError) -> RecordChain {
        var chain = RecordChain()
        guard try chain.readOne(database) != nil else { throw damaged("it has no row") }
        return chain
    }

    func write(_ database: Database) throws(StorageError) {
        var row = self
        try row.writeOne(database)
    }
}

func headErrors<Result>(
    _ body: () throws(RecordHeadError) -> Result
) throws(StorageError) -> Result {
    do {
        return try body()
    } catch {
        throw .head(error)
    }
}
