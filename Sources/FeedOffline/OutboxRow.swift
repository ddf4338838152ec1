import FeedProto
import FeedSQLite

/// An entry of the outbox as the file has it.
struct OutboxRow {
    var number: UInt64
    var state: OutboxState
    var sequence: UInt64
    /// The instance of the service whose posts the change names; 0 is unknown.
    var instanceID: UInt64
    /// The account as which the change was made; 0 is the device.
    var userID: UserID
    var request: Request

    /// The columns, in the order in which ``init(_:_:)`` reads them.
    static let columns =
        "number, state, sequence, instance, doubt, request, failure, checksum, user"
    /// The highest number of a state whose changes are shown: those that wait or may have left.
    static let lastPendingState: Int64 = 2

    init(number: UInt64, request: Request, instanceID: UInt64, userID: UserID) {
        self.number = number
        state = .waiting
        sequence = 0
        self.instanceID = instanceID
        self.userID = userID
        self.request = request
    }

    /// Reads a row, whose checksum has to fit.
    init(_ row: Statement, _ blobs: inout WireBlob) throws(OfflineError) {
        let (request, failure) = (row.bytes(5), row.bytes(6))
        let numbers = (0..<5).map { row.int64($0) }
        let user = row.int64(8)
        guard Self.checksum(numbers, request, failure, user: user) == row.int64(7) else {
            throw .damaged(reason: "Entry \(numbers[0]) of the outbox is not as it was written.")
        }
        number = row.uint64(0)
        sequence = row.uint64(2)
        instanceID = row.uint64(3)
        userID = UserID(rawValue: UInt64(bitPattern: user))
        switch numbers[1] {
        case 1: state = .waiting
        case 2: state = .sent
        case 3: state = .failed(try blobs.status(failure))
        default: state = .inDoubt(OutboxDoubt(rawValue: Int(numbers[4])) ?? .channelForgotten)
        }
        self.request = try blobs.request(request)
    }

    /// The values of a row, in the order of ``columns``.
    func values() throws(OfflineError) -> [OfflineDatabase.Value] {
        var doubt: Int64 = 0
        var failure: [UInt8] = []
        let stateNumber: Int64
        switch state {
        case .waiting: stateNumber = 1
        case .sent: stateNumber = 2
        case .failed(let status):
            stateNumber = 3
            failure = try WireBlob.bytes(of: status)
        case .inDoubt(let cause):
            stateNumber = 4
            doubt = Int64(cause.rawValue)
        }
        let bytes = try WireBlob.bytes(of: request)
        let numbers = [
            number, UInt64(bitPattern: stateNumber), sequence, instanceID,
            UInt64(bitPattern: doubt),
        ].map(Int64.init(bitPattern:))
        let user = Int64(bitPattern: userID.rawValue)
        let checksum = Self.checksum(numbers, bytes, failure, user: user)
        return numbers.map(OfflineDatabase.Value.int)
            + [.blob(bytes), .blob(failure), .int(checksum), .int(user)]
    }

    /// The entry as programs see it.
    var entry: OutboxEntry {
        OutboxEntry(
            number: number,
            request: request,
            state: state,
            sequence: sequence,
            userID: userID
        )
    }

    /// FNV-1a of all that a row has: SQLite notices a damaged page, and not a flipped bit in a value.
    ///
    /// An entry of the device has the checksum that it had in format 1.
    private static func checksum(
        _ numbers: [Int64],
        _ request: [UInt8],
        _ failure: [UInt8],
        user: Int64
    ) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for number in numbers + [Int64(request.count)] + (user == 0 ? [] : [user]) {
            for shift in stride(from: Int64(0), to: 64, by: 8) {
                add(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        for byte in request { add(byte) }
        for byte in failure { add(byte) }
        return Int64(bitPattern: hash)
    }
}

extension OutboxState {
    /// Whether lists show the change to its account: it waits or may have left.
    var isPending: Bool {
        switch self {
        case .waiting, .sent: true
        case .failed, .inDoubt: false
        }
    }
}

extension Request {
    /// The posts that show the change; 0 is all that a mark through a post reaches.
    var shownPosts: [PostID] {
        switch self {
        case .castVote(let vote): [vote.postID]
        case .updatePost(let update): [update.post?.id ?? 0]
        case .deletePost(let deletion): [deletion.id]
        case .markPosts(let marks): marks.throughPostID == 0 ? marks.postIDs : [0]
        default: []
        }
    }

    /// The posts that the change names, which have to have ids of the service before it leaves.
    var namedPosts: [PostID] {
        if case .markPosts(let marks) = self, marks.throughPostID != 0 {
            return [marks.throughPostID]
        }
        return shownPosts
    }

    /// Whether it may leave together with others about other posts: their order does not matter.
    var isIndependent: Bool {
        switch self {
        case .castVote: true
        case .markPosts(let marks): marks.throughPostID == 0
        default: false
        }
    }

    /// The same change with another id in place of a post's.
    func replacing(_ id: PostID, by other: PostID) -> Request {
        switch self {
        case .castVote(var vote):
            if vote.postID == id { vote.postID = other }
            return .castVote(vote)
        case .updatePost(var update):
            if update.post?.id == id { update.post?.id = other }
            return .updatePost(update)
        case .deletePost(var deletion):
            if deletion.id == id { deletion.id = other }
            return .deletePost(deletion)
        case .markPosts(var marks):
            marks.postIDs = marks.postIDs.map { $0 == id ? other : $0 }
            if marks.throughPostID == id { marks.throughPostID = other }
            return .markPosts(marks)
        default: return self
        }
    }
}

/// Values of the contract as bytes of the file: bodies of frames, so that fields which later versions
/// add are kept as the contract keeps them.
struct WireBlob: ~Copyable {
    private var decoder = MessageDecoder()

    init() {}

    static func bytes(of post: Post) throws(OfflineError) -> [UInt8] {
        try bytes(of: .post(post))
    }

    static func bytes(of response: Response) throws(OfflineError) -> [UInt8] {
        try body { () throws(FrameError) in
            try ServerFrame(id: 1, revision: 0, response: response).encoded()
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

    /// An answer; nil if it cannot be read.
    mutating func response(_ bytes: [UInt8]) -> Response? {
        try? decoder.decodeServerFrame(bytes).response
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
