extension VoteBatch {
    /// Reads a frame's body without a message decoder, if it is a batch in the form that every
    /// encoder writes.
    ///
    /// In that form the fields are in order, each at most once; the numbers have their shortest
    /// form and none of them is zero; and there are 1 to 256 votes. O(votes).
    ///
    /// - Parameters:
    ///   - bytes: The received bytes.
    ///   - body: The range of the body in them.
    /// - Returns: Whether it is such a batch. Otherwise a `MessageDecoder` must read the body, and
    ///   this batch means nothing.
    public mutating func scan(_ bytes: RawSpan, in body: Range<Int>) -> Bool {
        var scan = FieldScan(of: body, in: bytes)
        id = scan.varint(tag: 0x08, in: bytes)
        let timeout = scan.varint(tag: 0x10, in: bytes)
        timeoutMilliseconds = UInt32(truncatingIfNeeded: timeout)
        sequence = scan.varint(tag: 0x18, in: bytes)
        minimumRevision = scan.varint(tag: 0x20, in: bytes)
        actingUserID = scan.varint(tag: 0x28, in: bytes)
        guard id != 0, timeout <= UInt32.max,
            scan.enterLongMessage(tag: 0xCA, 0x02, in: bytes)
        else { return false }
        content = scan.rest
        return scanVotes(&scan, in: bytes)
    }

    /// Reads the votes up to the end of the message.
    @inline(__always)
    private mutating func scanVotes(_ scan: inout FieldScan, in bytes: RawSpan) -> Bool {
        count = 0
        var places = votes.mutableSpan
        var taken = 0
        while !scan.rest.isEmpty {
            guard taken < places.count, var vote = scan.takeMessage(tag: 0x0A, in: bytes) else {
                return false
            }
            let postID = vote.varint(tag: 0x08, in: bytes)
            let direction = vote.lastByte(tag: 0x10, in: bytes)
            guard postID != 0, 1...3 ~= direction else { return false }
            places[taken] = CastVoteRequest(
                postID: postID,
                direction: VoteDirection(rawValue: Int32(direction))
            )
            taken += 1
        }
        count = taken
        return taken > 0
    }
}
