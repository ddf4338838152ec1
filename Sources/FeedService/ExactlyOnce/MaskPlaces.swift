internal import FeedLog

/// Sets of items in places that are used again.
struct MaskPlaces {
    private var masks: [ItemMask] = []
    /// The free places, each naming the next in its first word; `masks.count` is none.
    private var firstFree = 0

    /// The bytes of memory that the sets take.
    var byteCount: Int { masks.isEmpty ? 0 : 32 + masks.count * MemoryLayout<ItemMask>.stride }

    /// The bytes that one more set may take.
    var growth: Int {
        guard firstFree == masks.count else { return 0 }
        return masks.isEmpty ? 64 : masks.count * MemoryLayout<ItemMask>.stride
    }

    /// The set in a place.
    subscript(place: Int) -> ItemMask { masks[place] }

    /// Puts a set into a free place, and returns the place.
    mutating func insert(_ mask: ItemMask) -> Int {
        if firstFree == masks.count { grow() }
        let place = firstFree
        firstFree = Int(masks[place].word0)
        masks[place] = mask
        return place
    }

    /// Frees a place.
    mutating func remove(at place: Int) {
        masks[place] = ItemMask(UInt64(firstFree))
        firstFree = place
    }

    private mutating func grow() {
        let placeCount = max(1, masks.count * 2)
        masks.reserveCapacity(placeCount)
        for place in masks.count..<placeCount { masks.append(ItemMask(UInt64(place + 1))) }
    }
}
