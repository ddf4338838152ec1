/// A hash of 64 bits for comparing states, not for tables that strangers fill.
///
/// Its steps never change: posts keep the hashes of devices.
///
/// Each step is a bijection of the state for a given word, and of the word for a given state; so
/// two values that differ in one word never have the same hash.
struct StateHash {
    private var state: UInt64

    /// The hash of nothing, of a kind of thing.
    init(seed: UInt64) { state = seed }

    @inline(__always)
    mutating func add(_ word: UInt64) {
        state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 29
    }

    /// Takes a text in, its length first.
    mutating func add(_ text: String) {
        add(UInt64(text.utf8.count))
        for byte in text.utf8 { add(UInt64(byte)) }
    }

    /// The hash: the last steps of splitmix64, by Steele, Lea and Flood.
    var value: UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
