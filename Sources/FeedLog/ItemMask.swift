/// A set of a batch's items, numbered from 0 to 255.
package struct ItemMask: Hashable, BitwiseCopyable, Sendable {
    package static let itemCount = 256

    /// Items 0 to 63, the lowest bit for the first.
    package var word0: UInt64
    package var word1: UInt64
    package var word2: UInt64
    package var word3: UInt64

    /// The items of the bits that are set; none of no words.
    package init(_ word0: UInt64 = 0, _ word1: UInt64 = 0, _ word2: UInt64 = 0, _ word3: UInt64 = 0)
    {
        self.word0 = word0
        self.word1 = word1
        self.word2 = word2
        self.word3 = word3
    }

    package init(firstItems count: Int) {
        precondition(0...Self.itemCount ~= count, "A set has no \(count) items.")
        func word(_ first: Int) -> UInt64 {
            let bits = min(max(count - first, 0), 64)
            return bits == 0 ? 0 : .max >> UInt64(64 - bits)
        }
        self.init(word(0), word(64), word(128), word(192))
    }

    /// Whether the set has an item; false beyond the room of the set, where setting traps.
    package subscript(item: Int) -> Bool {
        get {
            let bit: UInt64 = 1 << UInt64(item & 63)
            return switch item >> 6 {
            case 0: word0 & bit != 0
            case 1: word1 & bit != 0
            case 2: word2 & bit != 0
            case 3: word3 & bit != 0
            default: false
            }
        }
        set {
            let bit: UInt64 = 1 << UInt64(item & 63)
            switch item >> 6 {
            case 0: word0 = newValue ? word0 | bit : word0 & ~bit
            case 1: word1 = newValue ? word1 | bit : word1 & ~bit
            case 2: word2 = newValue ? word2 | bit : word2 & ~bit
            case 3: word3 = newValue ? word3 | bit : word3 & ~bit
            default: preconditionFailure("A batch has no item \(item).")
            }
        }
    }

    package func union(_ other: ItemMask) -> ItemMask {
        ItemMask(
            word0 | other.word0,
            word1 | other.word1,
            word2 | other.word2,
            word3 | other.word3
        )
    }
}
