import FeedProto

/// Values of the contract as bytes of the file: bodies of frames, so that fields which later versions
/// add are kept as the contract keeps them.
struct WireBlob: ~Copyable {
    private var decoder = MessageDecoder()

    init() {}

    static func bytes(of post: Post) throws(OfflineError) -> [UInt8] {
        try body { () throws(FrameError) in
            try ServerFrame(id: 1, revision: 0, response: .post(post)).encoded()
        }
    }

    static func bytes(of status: Status) throws(OfflineError) -> [UInt8] {
        try body { () throws(FrameError) in
            try ServerFrame(id: 1, revision: 0, status: status).encoded()
        }
    }

    static func bytes(of request: Request) throws(OfflineError) -> [UInt8] {
        try body { () throws(FrameError) in try ClientFrame(id: 1, request: request).encoded() }
    }

    mutating func post(_ bytes: [UInt8]) throws(OfflineError) -> Post {
        guard case .post(let post) = try? decoder.decodeServerFrame(bytes).response else {
            throw .damagedPosts
        }
        return post
    }

    mutating func status(_ bytes: [UInt8]) throws(OfflineError) -> Status {
        guard let status = try? decoder.decodeServerFrame(bytes).status else {
            throw .damaged(reason: "A refusal in the outbox cannot be read.")
        }
        return status
    }

    mutating func request(_ bytes: [UInt8]) throws(OfflineError) -> Request {
        guard let request = try? decoder.decodeClientFrame(bytes).request else {
            throw .damaged(reason: "A change in the outbox cannot be read.")
        }
        return request
    }

    private static func body(
        _ frame: () throws(FrameError) -> [UInt8]
    ) throws(OfflineError) -> [UInt8] {
        do {
            return Array(try frame().dropFirst(FrameHeader.byteCount))
        } catch {
            switch error {
            case .empty: throw .tooLarge(byteCount: 0, limitByteCount: 0)
            case .tooLarge(let length, let limit):
                throw .tooLarge(byteCount: length, limitByteCount: limit)
            }
        }
    }
}
