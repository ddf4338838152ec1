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

    /// Returns the place of a batch.
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

    /// How many votes a batch has.
    @inline(__always)
    func count(_ place: UInt32) -> Int {
        precondition(unsafe Int(place) < counts.count, "No such batch.")
        return unsafe Int(counts[Int(place)])
    }

    /// The number of a batch's vote.
    @inline(__always)
    func vote(_ item: Int, of place: UInt32) -> UInt32 {
        precondition(item >= 0 && item < count(place), "No such vote.")
        return unsafe votes[Int(place) * capacity + item]
    }
}
