import FeedRanking
import FeedSQLite

/// A row of `voters`.
enum VoterRow {
    static let upsert = "INSERT OR REPLACE INTO voters VALUES (?, ?, ?)"
    static let storedSum = "SELECT sum FROM voters WHERE number = ?"
    static let all = "SELECT number, device, sum FROM voters ORDER BY number"

    /// Writes a voter's row; gives its checksum.
    static func write(
        _ voter: VoterID,
        _ device: Device16,
        with row: Statement
    ) throws(SQLiteError) -> UInt64 {
        let sum = Self.sum(voter, device)
        try row.bind(Int64(voter.rawValue), at: 1)
        try row.bind(Self.bytes(device.high, device.low), at: 2)
        try row.bind(sum, at: 3)
        try row.run()
        return sum
    }

    /// Reads the row that a statement stands at; gives its checksum too.
    static func read(_ row: Statement) throws(StateError) -> (VoterID, Device16, UInt64) {
        guard let number = UInt32(exactly: row.int64(0)), let pair = pair(row, 1) else {
            throw StateTable.voters.damaged(
                "row \(row.int64(0))",
                "a field has an impossible value"
            )
        }
        let voter = VoterID(rawValue: number)
        let device = Device16(high: pair.high, low: pair.low)
        let sum = Self.sum(voter, device)
        guard row.uint64(2) == sum else { throw StateTable.voters.wrongSum("row \(number)") }
        return (voter, device, sum)
    }

    /// 16 bytes as the shell shows them: the first eight first, most significant byte first.
    static func bytes(_ high: UInt64, _ low: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: high.byteSwapped)
        bytes.append(littleEndian: low.byteSwapped)
        return bytes
    }

    /// The two numbers whose bytes a column has; nil where it has not 16.
    static func pair(_ row: Statement, _ column: Int) -> (high: UInt64, low: UInt64)? {
        row.withBlob(column) { bytes in
            var reader = ByteReader()
            guard bytes.count == 16, let high = reader.uint64(bytes),
                let low = reader.uint64(bytes)
            else { return nil }
            return (high.byteSwapped, low.byteSwapped)
        }
    }

    private static func sum(_ voter: VoterID, _ device: Device16) -> UInt64 {
        var sum = RowSum(.voters)
        sum.add([UInt64(voter.rawValue), device.high, device.low])
        return sum.value
    }
}
