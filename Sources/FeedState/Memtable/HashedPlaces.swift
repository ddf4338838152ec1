/// Numbers of entries, found by the high bits of a hash; open addressing in places of 4 bytes.
struct HashedPlaces {
    private static let minimumCapacity = 1_024
    private static let free: Int32 = -1

    private var numbers: [Int32] = []
    private var shift: UInt64 = 64
    /// The places that have a number.
    private(set) var usedCount = 0

    /// The number at a place; -1 is free.
    subscript(place: Int) -> Int32 {
        @inline(__always) get { numbers[place] }
    }

    /// The number at the place where a search begins.
    @inline(__always)
    func first(_ hash: UInt64) -> Int32 { numbers[Int(truncatingIfNeeded: hash >> shift)] }

    /// The place of the entry that is meant, or the free one that it would take.
    @inline(__always)
    func place(_ hash: UInt64, isMeant: (Int) -> Bool) -> Int {
        var place = Int(truncatingIfNeeded: hash >> shift)
        while numbers[place] != Self.free, !isMeant(Int(numbers[place])) {
            place = (place &+ 1) & (numbers.count - 1)
        }
        return place
    }

    /// Sets the number at a place.
    @inline(__always)
    mutating func set(_ place: Int, to number: Int32) {
        if numbers[place] == Self.free { usedCount += 1 }
        numbers[place] = number
    }

    /// Whether there is no room for so many entries.
    func mustGrow(for count: Int) -> Bool { count * 8 > numbers.count * 5 }

    /// Begins anew with free places for so many entries.
    mutating func grow(for count: Int) {
        var capacity = max(Self.minimumCapacity, numbers.count * 2)
        while count * 8 > capacity * 5 { capacity *= 2 }
        numbers = [Int32](repeating: Self.free, count: capacity)
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        usedCount = 0
    }

    /// The bytes that the places take.
    var byteCount: Int { numbers.count * 4 }
}
