package import FeedProto

/// A blocking client of the protocol, for tests: one call after another, or frames as they are.
package final class WireClient: @unchecked Sendable {
    package let socket: TestSocket
    /// What encrypts the frames; nil sends them as they are.
    package var security: (any WireSecurity)?
    private var frames = FrameDecoder(maximumFrameByteCount: 16 << 20)
    private var decoder = MessageDecoder(maximumFrameByteCount: 16 << 20)
    private var lastID: UInt64 = 0

    /// Connects to a service, on the loopback address unless another of this machine is given.
    package init(
        port: UInt16,
        host: UInt32 = TestSocket.loopbackAddress,
        from source: UInt32? = nil,
        receiveBufferByteCount: Int32? = nil
    ) throws {
        socket = try TestSocket(
            port: port,
            host: host,
            from: source,
            receiveBufferByteCount: receiveBufferByteCount
        )
    }

    package func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Sends a request and waits for its answer.
    package func call(_ request: Request?) throws -> ServerFrame {
        let id = try send(request)
        guard let answer = try receive() else {
            throw TestSocket.Failure.endOfFile(received: 0, wanted: 1)
        }
        precondition(answer.id == id || answer.id == 0, "Answers come in the order of requests.")
        return answer
    }

    /// Sends a request with a sequence and waits for its answer.
    package func call(_ request: Request?, sequence: UInt64) throws -> ServerFrame {
        try send(request, sequence: sequence)
        guard let answer = try receive() else {
            throw TestSocket.Failure.endOfFile(received: 0, wanted: 1)
        }
        return answer
    }

    /// Sends a request without waiting; returns its id.
    @discardableResult
    package func send(
        _ request: Request?,
        sequence: UInt64 = 0,
        isTimed: Bool = false
    ) throws -> UInt64 {
        let frame = ClientFrame(
            id: nextID(),
            request: request,
            sequence: sequence,
            isTimed: isTimed
        )
        try send(frame)
        return frame.id
    }

    package func send(_ frame: ClientFrame) throws {
        let bytes = try frame.encoded()
        try socket.send(security?.encrypt(bytes) ?? bytes)
    }

    /// The next frame; nil once the service has closed its side.
    package func receive() throws -> ServerFrame? {
        while true {
            if let body = try frames.nextBody() { return try decoder.decodeServerFrame(body) }
            let bytes = try socket.receiveSome(atMost: 1 << 16)
            if bytes.isEmpty { return nil }
            frames.append(try security?.decrypt(bytes) ?? bytes)
        }
    }

    /// The frames up to the end of file.
    package func receiveAll() throws -> [ServerFrame] {
        var all: [ServerFrame] = []
        while let frame = try receive() { all.append(frame) }
        return all
    }

    package func hello(clientID: [UInt8] = [], channel: UInt32 = 0) throws -> ServerFrame {
        let hello = HelloRequest(clientName: "test", clientID: clientID, channel: channel)
        return try call(.hello(hello))
    }

    package func createPost(title: String, feed: String = "") throws -> PostID {
        let answer = try call(.createPost(CreatePostRequest(feed: feed, post: Post(title: title))))
        guard case .post(let post) = answer.response else { throw answer.status ?? Self.noAnswer }
        return post.id
    }

    /// Votes and returns the post's new counts.
    package func vote(
        _ postID: PostID,
        _ direction: VoteDirection = .up
    ) throws -> CastVoteResponse {
        let request = CastVoteRequest(postID: postID, direction: direction)
        let answer = try call(.castVote(request))
        guard case .castVote(let response) = answer.response else {
            throw answer.status ?? Self.noAnswer
        }
        return response
    }

    package func list(_ request: ListPostsRequest) throws -> ListPostsResponse {
        let answer = try call(.listPosts(request))
        guard case .listPosts(let response) = answer.response else {
            throw answer.status ?? Self.noAnswer
        }
        return response
    }

    package func post(_ id: PostID) throws -> Post {
        let answer = try call(.getPost(GetPostRequest(id: id)))
        guard case .post(let post) = answer.response else { throw answer.status ?? Self.noAnswer }
        return post
    }

    package func serverStats() throws -> ServerStats {
        let answer = try call(.getServerStats)
        guard case .serverStats(let stats) = answer.response
        else { throw answer.status ?? Self.noAnswer }
        return stats
    }

    private static var noAnswer: Status {
        Status(code: .unknown, reason: .internal, message: "The answer is of another kind.")
    }
}

/// What encrypts the bytes between a ``WireClient`` and its socket.
package protocol WireSecurity {
    func encrypt(_ plaintext: [UInt8]) throws -> [UInt8]

    /// What bytes of the peer say; empty where the rest of a record has not come.
    func decrypt(_ ciphertext: [UInt8]) throws -> [UInt8]
}
