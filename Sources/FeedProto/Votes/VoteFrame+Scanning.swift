extension VoteFrame {
    /// Reads a body without a message decoder, if it is a vote in the form that every encoder
    /// writes.
    ///
    /// In that form the fields are in order, each at most once, none of them is zero, and the
    /// numbers have their shortest form. nil says nothing else about the body: a `MessageDecoder`
    /// must read it. A returned frame equals what that decoder would make of the body.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes; more than the body, so that words can be read at once.
    ///   - body: The range of the body in them.
    @inline(__always)
    public init?(scanning bytes: RawSpan, in body: Range<Int>) {
        var scan = FieldScan(of: body, in: bytes)
        id = scan.varint(tag: 0x08, in: bytes)
        timeoutMilliseconds = 0
        sequence = 0
        minimumRevision = 0
        actingUserID = 0
        // Most votes have none of the fields in between.
        if !scan.enterMessage(tag: 0xC2, 0x02, in: bytes) {
            let timeout = scan.varint(tag: 0x10, in: bytes)
            timeoutMilliseconds = UInt32(truncatingIfNeeded: timeout)
            sequence = scan.varint(tag: 0x18, in: bytes)
            minimumRevision = scan.varint(tag: 0x20, in: bytes)
            actingUserID = scan.varint(tag: 0x28, in: bytes)
            guard timeout <= UInt32.max, scan.enterMessage(tag: 0xC2, 0x02, in: bytes) else {
                return nil
            }
        }
        let postID = scan.varint(tag: 0x08, in: bytes)
        let direction = scan.lastByte(tag: 0x10, in: bytes)
        guard id != 0, postID != 0, 1...3 ~= direction else { return nil }
        vote = CastVoteRequest(
            postID: postID,
            direction: VoteDirection(rawValue: Int32(direction))
        )
    }
}
