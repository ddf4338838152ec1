/// The frames of one connection that wait for their answers; ids begin at 1 on each connection.
struct Exchange {
    /// The call of each frame without an answer; 0 is none, as for Hello and pings.
    private var inFlight = NumberTable<UInt64>()
    private var lastID: UInt64 = 0

    /// How many frames wait for their answer.
    var inFlightCount: Int { inFlight.count }

    /// The calls that wait for their answer, in the order in which they were sent; O(n log n).
    var tokens: [UInt64] {
        inFlight.sorted { $0.key < $1.key }.map(\.value).filter { $0 > 0 }
    }

    /// The id of the next frame, which is of a call or of none; O(1).
    mutating func takeID(for token: UInt64 = 0) -> UInt64 {
        lastID += 1
        inFlight[lastID] = token
        return lastID
    }

    /// The id of the next frame, of which no answer is awaited here; O(1).
    mutating func takeIDWithoutAnswer() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// The call that an answer belongs to, 0 for none; nil where no frame waits for it; O(1).
    mutating func take(_ id: UInt64) -> UInt64? { inFlight.removeValue(for: id) }

    /// The calls after a frame, in their order, which wait no more.
    mutating func takeCalls(after id: UInt64) -> [UInt64] {
        let taken = inFlight.filter { $0.key > id }.sorted { $0.key < $1.key }
        for (id, _) in taken { inFlight[id] = nil }
        return taken.map(\.value).filter { $0 > 0 }
    }
}
