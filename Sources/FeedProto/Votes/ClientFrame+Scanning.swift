extension ClientFrame {
    /// Reads a body without protobuf-c, if it asks for a page in the form that every encoder writes, as
    /// most calls for pages do.
    ///
    /// In that form the fields are in order, each at most once, and the numbers have their shortest form. A
    /// call with a sequence, one that is timed and one that names a post, a rank or an author is left to the
    /// decoder, as is a feed's name that is not ASCII. nil says nothing else about the body. A returned
    /// frame equals what a ``MessageDecoder`` would make of it. O(bytes).
    package init?(scanningPage body: RawSpan) {
        var scan = FieldScan(of: 0..<body.byteCount, in: body)
        let id = scan.varint(tag: 0x08, in: body)
        let timeout = scan.varint(tag: 0x10, in: body)
        let revision = scan.varint(tag: 0x20, in: body)
        let user = scan.varint(tag: 0x28, in: body)
        guard id != 0, scan.enterLongMessage(tag: 0x8A, 0x02, in: body),
            let feed = scan.text(tag: 0x0A, in: body)
        else { return nil }
        let order = scan.varint(tag: 0x10, in: body)
        let window = scan.varint(tag: 0x18, in: body)
        let size = scan.varint(tag: 0x20, in: body)
        let token = scan.takeMessage(tag: 0x2A, in: body)?.rest
        let consistency = scan.varint(tag: 0x60, in: body)
        guard scan.rest.isEmpty, timeout <= UInt32.max, size <= Int32.max,
            max(order, window, consistency) <= Int32.max
        else { return nil }
        var call = ListPostsRequest()
        call.feed = feed
        call.order = Order(rawValue: Int32(order))
        call.window = Window(rawValue: Int32(window))
        call.pageSize = Int32(size)
        if let token { call.pageToken.append(copying: body.extracting(token)) }
        call.consistency = Consistency(rawValue: Int32(consistency))
        self.init(
            id: id,
            request: .listPosts(call),
            timeoutMilliseconds: UInt32(timeout),
            minimumRevision: revision,
            actingUserID: UserID(rawValue: user)
        )
    }
}
