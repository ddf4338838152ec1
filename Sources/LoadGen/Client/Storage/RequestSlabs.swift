struct InFlightRequest {
    /// When the plan says it should have left; in a closed loop, when it left.
    var intended: UInt64
    /// When it was first sent.
    var sent: UInt64
    /// The number that names it on its channel; 0 where it changes nothing or needs no such name.
    var sequence: UInt64 = 0
    /// The number of the vote, its batch or the post, or the client's own number of a new post.
    var argument: UInt32
    /// The operation; nil for Hello or a ping, which only keep the connection.
    var operation: Operation?
    /// How it differs from a request that was sent once and is waited for; usually empty.
    var marks: Marks = []
    /// The connection's own number of the user who votes; 0 where the connection votes itself.
    var voter: UInt16 = 0

    /// What happened to a request before its answer.
    ///
    /// | Marks | The request | Its answer |
    /// | --- | --- | --- |
    /// | none | was sent once | counts, and a vote raises the score |
    /// | `expired` | was given up, its outcome is unknown | counts as late and changes nothing |
    /// | `again` | was refused, or is a lost read, and was sent again | counts |
    /// | `answered` | was answered before an earlier one; it has no operation any more | came |
    /// | `again`, `doubtful` | is a lost change and was sent again | counts, as of either send |
    struct Marks: OptionSet {
        let rawValue: UInt8

        /// Its time ran out.
        static let expired = Marks(rawValue: 1 << 0)
        /// It was sent more than once.
        static let again = Marks(rawValue: 1 << 1)
        /// An earlier send may have been executed; only together with `again`.
        static let doubtful = Marks(rawValue: 1 << 2)
        /// Its answer has passed those to requests before it.
        static let answered = Marks(rawValue: 1 << 3)
    }
}

/// The requests in flight of all connections of a thread: one ring for each, indexed by request id.
///
/// The ids of a connection are consecutive and answers arrive in their order, so a ring of at least
/// the pipeline's depth holds every request without an answer.
///
/// With many connections the rings are larger than the caches near a processor. So what most runs do
/// not need of a request lies apart, and only where a run needs it.
@safe struct InFlightSlab: ~Copyable {
    /// What every run needs of a request, in 16 bytes.
    private struct Slot {
        var sent: UInt64
        var argument: UInt32
        var operation: Operation?
        var marks: InFlightRequest.Marks
        var voter: UInt16
    }

    /// What an open loop needs beside, and a run that sends requests again.
    private struct Detail {
        var intended: UInt64
        var sequence: UInt64
    }

    // Not buffer pointers, nor changed in place: the thread sanitizer of Swift 6.3 cannot compile that.
    private let slots: UnsafeMutablePointer<Slot>
    private let details: UnsafeMutablePointer<Detail>?
    private let ringSize: Int
    private let count: Int

    /// Rings of at least `depth` requests for `clientCount` connections.
    ///
    /// Without details a request has no sequence, and is intended for the instant at which it is sent.
    init(clientCount: Int, depth: Int, hasDetails: Bool) {
        var size = 1
        while size < depth { size *= 2 }
        ringSize = size
        count = size * clientCount
        unsafe slots = .allocate(capacity: count)
        unsafe slots.initialize(
            repeating: Slot(sent: 0, argument: 0, operation: nil, marks: [], voter: 0),
            count: count
        )
        guard hasDetails else {
            unsafe details = nil
            return
        }
        unsafe details = .allocate(capacity: count)
        unsafe details?.initialize(repeating: Detail(intended: 0, sequence: 0), count: count)
    }

    deinit {
        unsafe slots.deallocate()
        unsafe details?.deallocate()
    }

    @inline(__always)
    subscript(client: Int, id: UInt64) -> InFlightRequest {
        get {
            let index = index(client, id)
            let slot = unsafe slots[index]
            let detail =
                unsafe details.map { unsafe $0[index] }
                ?? Detail(intended: slot.sent, sequence: 0)
            return InFlightRequest(
                intended: detail.intended,
                sent: slot.sent,
                sequence: detail.sequence,
                argument: slot.argument,
                operation: slot.operation,
                marks: slot.marks,
                voter: slot.voter
            )
        }
        nonmutating set {
            let index = index(client, id)
            assert(
                unsafe details != nil
                    || newValue.sequence == 0
                        && newValue.intended == newValue.sent,
                "There is no place for what the request has."
            )
            unsafe slots[index] = Slot(
                sent: newValue.sent,
                argument: newValue.argument,
                operation: newValue.operation,
                marks: newValue.marks,
                voter: newValue.voter
            )
            unsafe details?[index] = Detail(
                intended: newValue.intended,
                sequence: newValue.sequence
            )
        }
    }

    /// Notes when a request leaves, and when it should have where it is not known; returns the request.
    @inline(__always)
    func depart(_ client: Int, _ id: UInt64, at now: UInt64, intended: UInt64?) -> InFlightRequest {
        var request = self[client, id]
        request.sent = now
        if let intended { request.intended = intended }
        self[client, id] = request
        return request
    }

    @inline(__always)
    private func index(_ client: Int, _ id: UInt64) -> Int {
        let index = client &* ringSize &+ Int(truncatingIfNeeded: id) & (ringSize &- 1)
        precondition(index >= 0 && index < count, "No such connection.")
        return index
    }
}

/// The votes of a thread's batches in flight: each batch has a place, which names it.
///
/// A batch keeps its place until it is answered or given up, also while it waits to be sent again.
@safe struct BatchSlab: ~Copyable {
    /// The most votes of a batch; 1 where votes are sent alone.
    let capacity: Int
    private let votes: UnsafeMutableBufferPointer<UInt32>
    private let counts: UnsafeMutableBufferPointer<UInt16>
    private var free: [UInt32]

    /// Places for `count` batches of at most `capacity` votes; none for single votes.
    init(count: Int, capacity: Int) {
        self.capacity = capacity
        let count = capacity > 1 ? count : 0
        unsafe votes = .allocate(capacity: count * capacity)
        unsafe votes.initialize(repeating: 0)
        unsafe counts = .allocate(capacity: count)
        unsafe counts.initialize(repeating: 0)
        free = (0..<UInt32(count)).reversed()
    }

    deinit {
        unsafe votes.deallocate()
        unsafe counts.deallocate()
    }

    /// Takes a place for a new batch.
    ///
    /// A place is free while no connection has more batches in flight than its pipeline is deep.
    mutating func take() -> UInt32 {
        guard let place = free.popLast() else { preconditionFailure("No place for a batch.") }
        unsafe counts[Int(place)] = 0
        return place
    }

    mutating func release(_ place: UInt32) {
        free.append(place)
    }

    /// Adds the vote of a number to a batch that has room for it.
    mutating func append(_ vote: UInt32, to place: UInt32) {
        let count = self.count(place)
        precondition(count < capacity, "A batch has at most \(capacity) votes.")
        unsafe votes[Int(place) * capacity + count] = vote
        // Not `+= 1`: Swift 6.3.1 makes a broken module of that under the thread sanitizer.
        unsafe counts[Int(place)] = UInt16(count + 1)
    }

    @inline(__always)
    func count(_ place: UInt32) -> Int {
        precondition(unsafe Int(place) < counts.count, "No such batch.")
        return unsafe Int(counts[Int(place)])
    }

    @inline(__always)
    func vote(_ item: Int, of place: UInt32) -> UInt32 {
        precondition(item >= 0 && item < count(place), "No such vote.")
        return unsafe votes[Int(place) * capacity + item]
    }
}
