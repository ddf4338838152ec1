/// One request in flight.
struct InFlightRequest {
    /// When the plan says it should have left; in a closed loop, when it left.
    var intended: UInt64
    /// When it was first sent.
    var sent: UInt64
    /// The number that names it to the service permanently; 0 where it changes nothing or needs no
    /// such name.
    var sequence: UInt64 = 0
    /// The number of the post, or the client's own number of a new post.
    var argument: UInt32
    /// The operation; nil for a greeting or a ping, which only keep the connection.
    var operation: Operation?
    /// How it differs from a request that was sent once and is waited for; usually empty.
    var marks: Marks = []

    /// What may have happened to a request in flight.
    struct Marks: OptionSet {
        let rawValue: UInt8

        /// Its time ran out, so that a later answer changes nothing.
        static let expired = Marks(rawValue: 1)
        /// It was sent before.
        static let again = Marks(rawValue: 2)
        /// It was sent before, and it is unknown whether it was executed.
        static let doubtful = Marks(rawValue: 4)
    }
}

/// The requests in flight of all connections of a thread: one ring for each, indexed by request id.
///
/// The ids of a connection are consecutive and answers arrive in their order, so a ring of at least
/// the pipeline's depth holds every request without an answer.
@safe struct InFlightSlab: ~Copyable {
    private let requests: UnsafeMutableBufferPointer<InFlightRequest>
    private let ringSize: Int
    private let count: Int

    /// Rings of at least `depth` requests for `clientCount` connections.
    init(clientCount: Int, depth: Int) {
        var size = 1
        while size < depth { size *= 2 }
        ringSize = size
        count = size * clientCount
        unsafe requests = .allocate(capacity: count)
        unsafe requests.initialize(
            repeating: InFlightRequest(intended: 0, sent: 0, argument: 0, operation: nil)
        )
    }

    deinit {
        unsafe requests.deallocate()
    }

    /// The request `id` of connection number `client`.
    @inline(__always)
    subscript(client: Int, id: UInt64) -> InFlightRequest {
        get { unsafe requests[index(client, id)] }
        nonmutating set { unsafe requests[index(client, id)] = newValue }
    }

    @inline(__always)
    private func index(_ client: Int, _ id: UInt64) -> Int {
        let index = client &* ringSize &+ Int(truncatingIfNeeded: id) & (ringSize &- 1)
        precondition(index >= 0 && index < count, "No such connection.")
        return index
    }
}
