import FeedLog

/// The calls that a channel remembers, in the order of their sequences.
///
/// Sequences without a call take no place, so the memory depends on the number of calls and not on
/// the gaps between their sequences. The caller passes the highest sequence.
struct CallRing {
    /// One call, in 16 bytes: the value, the hash, `low`, the kind, and two bytes of padding.
    ///
    /// `low` is enough to name a sequence: all sequences in the ring are less than ``window``, which
    /// is 256, below the highest, so no two of them have the same lowest byte.
    struct Call: BitwiseCopyable {
        enum Kind: UInt8 {
            /// Executed; the outcome has no value.
            case done
            /// `value` is an id.
            case id
            /// The first items of a batch were executed, as many as `value` says.
            case firstItems
            /// The items of a batch that were executed are in the place of `masks` at `value`.
            case items
        }

        var value: UInt64 = 0
        var hash: UInt32 = 0
        /// The lowest byte of the sequence.
        var low: UInt8 = 0
        var kind = Kind.done
    }

    /// The most calls that are remembered.
    static let window = 256
    /// The memory of an array beside its elements.
    private static let arrayByteCount = 32

    /// The places: a power of two, or none.
    private var places: [Call] = []
    /// The place of the oldest call.
    private var head = 0
    /// The number of calls.
    private(set) var count = 0
    private var masks = MaskPlaces()

    /// The bytes of memory that the calls take.
    var byteCount: Int {
        (places.isEmpty ? 0 : Self.arrayByteCount + places.count * MemoryLayout<Call>.stride)
            + masks.byteCount
    }

    /// Whether another call can be put in without memory for it; O(1).
    @inline(__always)
    var hasRoom: Bool { count < places.count || places.count == Self.window }

    /// The bytes that one more call may take; of a batch, with its mask.
    func growth(items: Bool) -> Int {
        var byteCount = items ? masks.growth : 0
        if !hasRoom {
            byteCount += max(Self.firstPlaceCount, places.count) * MemoryLayout<Call>.stride
            if places.isEmpty { byteCount += Self.arrayByteCount }
        }
        return byteCount
    }

    /// The outcome of a call; nil where the sequence has no call.
    ///
    /// O(1); O(log calls) where there are gaps.
    @inline(__always)
    func call(_ sequence: UInt64, highest: UInt64) -> Call? {
        index(of: sequence, highest).map { self[$0] }
    }

    /// The outcome of a call, which answers a repeat of it.
    func outcome(of call: Call) -> Outcome {
        switch call.kind {
        case .done: .done
        case .id: .id(call.value)
        case .firstItems: .items(ItemMask(firstItems: Int(call.value)))
        case .items: .items(masks[Int(call.value)])
        }
    }

    /// Adds a call above all others, and removes the oldest calls of the window.
    ///
    /// O(1) where sequences follow each other.
    @inline(__always)
    mutating func append(_ sequence: UInt64, hash: UInt32, _ outcome: Outcome, highest: UInt64) {
        removeCalls(below: sequence, highest: highest)
        if !hasRoom { grow() }
        let call = encoded(sequence, hash, outcome)
        count += 1
        self[count - 1] = call
    }

    /// Inserts a call between others, or replaces its outcome; O(calls).
    mutating func insert(_ sequence: UInt64, hash: UInt32, _ outcome: Outcome, highest: UInt64) {
        if let known = index(of: sequence, highest) {
            free(self[known])
            self[known] = encoded(sequence, hash, outcome)
            return
        }
        if !hasRoom { grow() }
        let call = encoded(sequence, hash, outcome)
        count += 1
        var index = count - 1
        while index > 0, age(self[index - 1], highest) < highest - sequence {
            self[index] = self[index - 1]
            index -= 1
        }
        self[index] = call
    }

    /// The call at an index in the order of sequences.
    private subscript(index: Int) -> Call {
        @inline(__always)
        get { places[(head &+ index) & (places.count &- 1)] }
        @inline(__always)
        set { places[(head &+ index) & (places.count &- 1)] = newValue }
    }

    /// The distance of a call's sequence from the highest.
    @inline(__always)
    private func age(_ call: Call, _ highest: UInt64) -> UInt64 {
        UInt64(UInt8(truncatingIfNeeded: highest) &- call.low)
    }

    @inline(__always)
    private func index(of sequence: UInt64, _ highest: UInt64) -> Int? {
        let age = highest - sequence
        guard age < UInt64(Self.window), count > 0 else { return nil }
        // Without gaps its distance from the end is the distance of its sequence from the highest.
        let guess = count - 1 - Int(age)
        if guess >= 0, self[guess].low == UInt8(truncatingIfNeeded: sequence) { return guess }
        return search(age, highest)
    }

    private func search(_ age: UInt64, _ highest: UInt64) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            let found = self.age(self[middle], highest)
            if found == age { return middle }
            if found > age { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    @inline(__always)
    private mutating func removeCalls(below sequence: UInt64, highest: UInt64) {
        let step = sequence - highest
        while count > 0 {
            let oldest = self[0]
            guard step >= UInt64(Self.window) || age(oldest, highest) + step >= UInt64(Self.window)
            else { return }
            free(oldest)
            head = (head &+ 1) & (places.count &- 1)
            count -= 1
        }
    }

    @inline(__always)
    private mutating func encoded(_ sequence: UInt64, _ hash: UInt32, _ outcome: Outcome) -> Call {
        let low = UInt8(truncatingIfNeeded: sequence)
        switch outcome {
        case .done: return Call(hash: hash, low: low)
        case .id(let id): return Call(value: id, hash: hash, low: low, kind: .id)
        case .items(let mask):
            if let first = mask.firstCount {
                return Call(value: UInt64(first), hash: hash, low: low, kind: .firstItems)
            }
            let place = UInt64(masks.insert(mask))
            return Call(value: place, hash: hash, low: low, kind: .items)
        }
    }

    @inline(__always)
    private mutating func free(_ call: Call) {
        if call.kind == .items { masks.remove(at: Int(call.value)) }
    }

    /// The places of a channel's first call.
    private static let firstPlaceCount = 4

    @inline(never)
    private mutating func grow() {
        let placeCount = max(Self.firstPlaceCount, places.count * 2)
        var grown = [Call](repeating: Call(), count: placeCount)
        for index in 0..<count { grown[index] = self[index] }
        places = grown
        head = 0
    }
}

extension ItemMask {
    /// The number of items if they are the first ones; nil if some are missing.
    fileprivate var firstCount: Int? {
        let count =
            word0.nonzeroBitCount + word1.nonzeroBitCount + word2.nonzeroBitCount
            + word3.nonzeroBitCount
        return self == ItemMask(firstItems: count) ? count : nil
    }
}
