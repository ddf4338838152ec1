import FeedLog
import FeedRanking
import FeedSQLite

/// A row of `channels`: a client's channel and the outcomes of its latest calls.
enum ChannelRow {
    static let upsert = "INSERT OR REPLACE INTO channels VALUES (?, ?, ?, ?, ?, ?)"
    static let delete = "DELETE FROM channels WHERE number = ?"
    static let storedSum = "SELECT sum FROM channels WHERE number = ?"
    static let one = """
        SELECT number, client, channel, highest, sum, outcomes FROM channels WHERE number = ?
        """
    static let all = """
        SELECT number, client, channel, highest, sum, outcomes FROM channels ORDER BY number
        """

    /// Writes a channel's row; gives its checksum.
    static func write(
        _ channel: ChannelState,
        _ ring: OutcomeRing,
        _ buffer: inout [UInt8],
        with row: Statement
    ) throws(SQLiteError) -> UInt64 {
        ring.write(into: &buffer)
        let sum = Self.sum(channel, ring.highest, buffer.span)
        try row.bind(channel.number, at: 1)
        try row.bind(VoterRow.bytes(channel.clientHigh, channel.clientLow), at: 2)
        try row.bind(Int64(channel.channel), at: 3)
        try row.bind(ring.highest, at: 4)
        try row.bind(sum, at: 5)
        try row.bind(buffer, at: 6)
        try row.run()
        return sum
    }

    /// Reads the row that a statement stands at; gives its checksum too.
    static func read(
        _ row: Statement,
        into ring: inout OutcomeRing
    ) throws(StateError) -> (ChannelState, UInt64) {
        let number = row.uint64(0)
        guard let pair = VoterRow.pair(row, 1), let of = UInt32(exactly: row.int64(2)) else {
            throw StateTable.channels.damaged("row \(number)", "a field has an impossible value")
        }
        let channel = ChannelState(
            number: number,
            clientHigh: pair.high,
            clientLow: pair.low,
            channel: of
        )
        let highest = row.uint64(3)
        let (sum, isRing) = row.withBlob(5) { bytes in
            (Self.sum(channel, highest, bytes), ring.read(bytes, channel: number))
        }
        guard row.uint64(4) == sum else { throw StateTable.channels.wrongSum("row \(number)") }
        guard isRing, ring.highest == highest else {
            throw StateTable.channels.damaged("row \(number)", "the outcomes are no ring")
        }
        return (channel, sum)
    }

    private static func sum(
        _ channel: ChannelState,
        _ highest: UInt64,
        _ bytes: Span<UInt8>
    ) -> UInt64 {
        var sum = RowSum(.channels)
        sum.add([
            channel.number, channel.clientHigh, channel.clientLow, UInt64(channel.channel),
            highest,
        ])
        sum.add(bytes)
        return sum.value
    }
}
