internal import FeedRanking

/// The ballots of 1024 voters with consecutive numbers on one post, as one row keeps them.
///
/// Fewer than 128: two bytes each, the voter's place times four plus the direction, in the order of
/// places. Otherwise 256 bytes, two bits a voter.
struct BallotChunk {
    /// How many voters share a row of a post.
    static let voterCount = 1_024

    /// From so many on, bits take less than numbers.
    private static let sparseLimit = 128
    private static let denseByteCount = voterCount / 4

    /// The raw direction at each place; 0 is none.
    private var directions = [UInt8](repeating: 0, count: voterCount)
    /// The places that have a ballot, a bit each: most rows have few.
    private var words: [16 of UInt64] = .init(repeating: 0)

    /// How many ballots stand.
    private(set) var count = 0

    /// The chunk that a voter is in.
    static func number(_ voter: VoterID) -> UInt32 { voter.rawValue / UInt32(voterCount) }

    /// The voter's place in the chunk.
    static func place(_ voter: VoterID) -> Int { Int(voter.rawValue) % voterCount }

    /// The ballot at a place; nil where none stands.
    subscript(place: Int) -> VoteDirection? {
        get { VoteDirection(rawValue: directions[place]) }
        set {
            let new = newValue?.rawValue ?? 0
            count += (new == 0 ? 0 : 1) - (directions[place] == 0 ? 0 : 1)
            set(place, new)
        }
    }

    /// Takes all ballots out.
    mutating func clear() {
        for index in words.indices {
            while words[index] != 0 { set(index * 64 + words[index].trailingZeroBitCount, 0) }
        }
        count = 0
    }

    /// Calls `body` with each ballot, in the order of places; O(ballots).
    func visit(_ body: (Int, VoteDirection) -> Void) {
        for index in words.indices {
            var rest = words[index]
            while rest != 0 {
                let place = index * 64 + rest.trailingZeroBitCount
                if let direction = self[place] { body(place, direction) }
                rest &= rest - 1
            }
        }
    }

    private mutating func set(_ place: Int, _ direction: UInt8) {
        directions[place] = direction
        let bit: UInt64 = 1 << UInt64(place & 63)
        if direction == 0 { words[place >> 6] &= ~bit } else { words[place >> 6] |= bit }
    }

    /// Fills the chunk from a row's bytes; false where no chunk is written so.
    mutating func read(_ bytes: Span<UInt8>) -> Bool {
        clear()
        if bytes.count == Self.denseByteCount {
            for place in directions.indices {
                let bits = bytes[place / 4] >> UInt8(place % 4 * 2) & 3
                if bits == VoteDirection.clear.rawValue { return false }
                set(place, bits)
                count += bits == 0 ? 0 : 1
            }
            return count >= Self.sparseLimit
        }
        guard bytes.count < Self.denseByteCount, bytes.count % 2 == 0 else { return false }
        var next = 0
        for offset in stride(from: 0, to: bytes.count, by: 2) {
            let number = Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
            let place = number >> 2
            let bits = UInt8(number & 3)
            guard place >= next, place < Self.voterCount, bits == 1 || bits == 2 else {
                return false
            }
            set(place, bits)
            count += 1
            next = place + 1
        }
        return true
    }

    /// Writes the chunk in place of what the array held.
    func write(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        guard count < Self.sparseLimit else {
            for place in stride(from: 0, to: Self.voterCount, by: 4) {
                var byte: UInt8 = 0
                for voter in 0..<4 { byte |= directions[place + voter] << UInt8(2 * voter) }
                bytes.append(byte)
            }
            return
        }
        visit { place, direction in
            let number = place << 2 | Int(direction.rawValue)
            bytes.append(UInt8(truncatingIfNeeded: number))
            bytes.append(UInt8(truncatingIfNeeded: number >> 8))
        }
    }
}
