import FeedJournal
import FeedState
import Testing

/// The heads of a cluster's records.
@Suite struct RecordChainTests {
    private static let beginning = JournalPosition(number: 6, hash: 0x1234_5678_9ABC_DEF0)
    private static let entries: [UInt8] = [2, 0, 0, 0, 23, 5]

    /// A record with room for its head.
    private static func body() -> [UInt8] {
        [UInt8](repeating: 0, count: RecordHead.byteCount) + entries
    }

    private static func take(
        _ body: [UInt8],
        _ record: UInt64,
        _ chain: inout RecordChain
    ) throws(RecordHeadError) -> RecordHead? {
        try chain.take(body.span, record: record)
    }

    private static func head(_ body: [UInt8], _ record: UInt64) throws -> RecordHead? {
        try RecordHead(of: body.span, record: record)
    }

    private static func hash(_ body: [UInt8], _ seed: UInt64) -> UInt64 {
        RecordHash.xxh3(body.span, seed: seed)
    }

    /// The first two records of a cluster.
    private static func records() throws -> [[UInt8]] {
        var chain = RecordChain(after: beginning)
        return try (7...8 as ClosedRange<UInt64>).map { number in
            var body = body()
            chain.seal(&body, entryCount: 1, at: 1_000)
            _ = try Self.take(body, number, &chain)
            return body
        }
    }

    @Test func aHeadHasTheseBytes() throws {
        let records = try Self.records()
        let head: [UInt8] =
            [0x48, 0x45, 0x41, 0x44, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]
            + [0xE8, 3, 0, 0, 0, 0, 0, 0, 0xF0, 0xDE, 0xBC, 0x9A, 0x78, 0x56, 0x34, 0x12]
        #expect(records[0] == head + Self.entries)
        // The chain covers the head and the entries of the record before.
        let chain = Self.hash(records[0], Self.beginning.hash)
        #expect(try Self.head(records[1], 8)?.chain == chain)
    }

    @Test func recordsAreTakenInTheirOrder() throws {
        let records = try Self.records()
        var chain = RecordChain(after: Self.beginning)
        // One of the time before the cluster, as a start may replay.
        #expect(try chain.take(Self.entries.span, record: 6) == nil)
        #expect(chain == RecordChain(after: Self.beginning))
        for (number, record) in zip(7...8 as ClosedRange<UInt64>, records) {
            #expect(try Self.take(record, number, &chain)?.entryCount == 1)
        }
        #expect(chain.microseconds == 1_000 && chain.level == RecordHead.firstLevel)
        // A record that no service wrote has no bytes, and is a part of the chain.
        let before = chain.hash
        #expect(try Self.take([], 9, &chain) == nil)
        #expect(chain.hash != before)
    }

    @Test func anotherChainIsRefusedWithBothValues() throws {
        let records = try Self.records()
        var chain = RecordChain(after: Self.beginning)
        var other = records[0]
        other[RecordHead.byteCount + 5] ^= 1
        _ = try Self.take(other, 7, &chain)
        let expected = Self.hash(other, Self.beginning.hash)
        let found = Self.hash(records[0], Self.beginning.hash)
        let error = RecordHeadError.otherChain(record: 8, found: found, expected: expected)
        #expect(throws: error) { try Self.take(records[1], 8, &chain) }
        #expect("\(error)".contains("Record 8 "))
        #expect("\(error)".contains(hexadecimal(found)))
        #expect("\(error)".contains(hexadecimal(expected)))
        // What is refused changes nothing.
        #expect(chain.hash == expected)
    }

    @Test func newerHeadsAreRefusedByTheirNumbers() throws {
        var record = try Self.records()[0]
        record[8] = 3
        let level = RecordHeadError.newerLevel(record: 7, level: 3, known: 2)
        #expect(throws: level) { try Self.head(record, 7) }
        #expect(StateStartError.storage(.head(level)).exitStatus == 4)
        record[4] = 2
        let format = RecordHeadError.newerFormat(record: 7, format: 2, known: 1)
        #expect(throws: format) { try Self.head(record, 7) }
        let refused = StateStartError.storage(.newerFormat(file: "state.db", format: 4, known: 3))
        #expect(StateStartError.storage(.head(format)).exitStatus == refused.exitStatus)
        #expect(StateStartError.storage(.head(.missing(record: 7))).exitStatus == 5)
    }

    @Test func aHeadIsWhereItBelongsOnly() throws {
        let record = try Self.records()[0]
        var chain = RecordChain(after: Self.beginning)
        #expect(throws: RecordHeadError.missing(record: 7)) {
            try chain.take(Self.entries.span, record: 7)
        }
        #expect(throws: RecordHeadError.unexpected(record: 6)) {
            try Self.take(record, 6, &chain)
        }
        var alone = RecordChain.ofOneMachine
        #expect(throws: RecordHeadError.unexpected(record: 7)) {
            try Self.take(record, 7, &alone)
        }
        var body = Self.entries
        alone.seal(&body, entryCount: 1, at: 1_000)
        #expect(alone.headByteCount == 0 && body == Self.entries)
    }

    @Test func theFirstHeadIsBelievedWhereNothingIsKnown() throws {
        let records = try Self.records()
        var chain = RecordChain.ofOneMachine.believingFirst
        #expect(try chain.take(Self.entries.span, record: 6) == nil)
        #expect(!chain.isOfCluster)
        for (number, record) in zip(7...8 as ClosedRange<UInt64>, records) {
            _ = try Self.take(record, number, &chain)
        }
        #expect(chain.beginning == 6)
        #expect(throws: RecordHeadError.self) { try Self.take(records[1], 9, &chain) }
    }
}
