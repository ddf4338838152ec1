/// One request on its way.
struct Flight {
    /// When it should have left by the plan; in a closed loop, when it left.
    var intended: UInt64
    /// When it left first.
    var sent: UInt64
    /// What the service knows it by for good; 0 where it does not change anything, or need not be told apart.
    var sequence: UInt64 = 0
    /// The post's number, or a new post's number of its client.
    var argument: UInt32
    /// What was asked for; nil for what only keeps the connection, a greeting or a ping.
    var operation: Operation?
    /// What sets it apart from a request that left once and is waited for: mostly nothing.
    var marks: Marks = []

    /// What may have befallen a request on its way.
    struct Marks: OptionSet {
        let rawValue: UInt8

        /// Its time ran out, so that an answer to come changes nothing.
        static let expired = Marks(rawValue: 1)
        /// It was sent before.
        static let again = Marks(rawValue: 2)
        /// It was sent before, and nobody knows whether it was executed.
        static let doubtful = Marks(rawValue: 4)
    }
}

/// The requests in flight of all connections of a thread: a ring for each, indexed by request id.
///
/// Ids of a connection follow one another and answers come in their order, so a ring of at least the
/// pipeline's depth holds every request without an answer.
@safe struct FlightSlab: ~Copyable {
    private let flights: UnsafeMutableBufferPointer<Flight>
    private let ringSize: Int
    private let count: Int

    /// Rings of at least `depth` requests for `clientCount` connections.
    init(clientCount: Int, depth: Int) {
        var size = 1
        while size < depth { size *= 2 }
        ringSize = size
        count = size * clientCount
        unsafe flights = .allocate(capacity: count)
        unsafe flights.initialize(
            repeating: Flight(intended: 0, sent: 0, argument: 0, operation: nil)
        )
    }

    deinit {
        unsafe flights.deallocate()
    }

    /// The request `id` of connection number `client`.
    @inline(__always)
    subscript(client: Int, id: UInt64) -> Flight {
        get { unsafe flights[index(client, id)] }
        nonmutating set { unsafe flights[index(client, id)] = newValue }
    }

    @inline(__always)
    private func index(_ client: Int, _ id: UInt64) -> Int {
        let index = client &* ringSize &+ Int(truncatingIfNeeded: id) & (ringSize &- 1)
        precondition(index >= 0 && index < count, "No such connection.")
        return index
    }
}
