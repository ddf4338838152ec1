internal import FeedConcurrency
package import FeedLog
internal import FeedRanking
internal import Synchronization

/// A channel that is remembered: its identity, and its recent calls behind a lock of their own.
///
/// The lock is held from the lookup of a call, over its change, to the recording of its outcome. Lock
/// order: the loop's log and the table of channels come before it, and stripes, feeds and voters after
/// it.
package final class Channel: Sendable {
    /// The client's id, the number that the client chose, and the number that the table gave.
    package let identity: ChannelState
    private let calls: Lock<RecentCalls>

    /// A channel without calls, which counts in a host's share.
    init(_ identity: ChannelState, share: ChannelShare) {
        self.identity = identity
        calls = Lock(RecentCalls(channel: identity.number, share: share))
    }

    /// Runs the body with the channel's calls while no other thread has them.
    @inline(__always)
    package func withCalls<Result, Failure: Error>(
        _ body: (inout RecentCalls) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try calls.withLock(body)
    }
}

/// A channel as one connection holds it, until another Hello takes it over.
package struct HeldChannel: Sendable {
    /// The channel, which other connections may have held before.
    package let channel: Channel
    /// The number of the Hello; calls are fenced once there is a later one.
    package let epoch: UInt64

    /// Runs the body with the channel's calls while no other thread has them.
    @inline(__always)
    package func withCalls<Result, Failure: Error>(
        _ body: (inout RecentCalls) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try channel.withCalls(body)
    }
}

/// The limit and the count of the bytes of all channels.
package final class ChannelBudget: Sendable {
    /// The bytes that all channels may take.
    package let limitByteCount: Int
    private let used = Atomic(0)
    private let restored = Atomic(0)

    /// Nothing taken yet.
    package init(limitByteCount: Int) {
        // So that a share can be computed without overflow.
        self.limitByteCount = min(limitByteCount, .max / (2 * ChannelShare.factor))
    }

    package var usedByteCount: Int { used.load(ordering: .relaxed) }

    /// The bytes that are left, as hosts count them.
    ///
    /// Channels of an earlier run may take all, but count as one host's share at most: what they
    /// take beyond that, they give up as soon as it is needed.
    fileprivate var leftByteCount: Int {
        let restored = restored.load(ordering: .relaxed)
        let leftByHosts = limitByteCount - (usedByteCount - restored)
        let share = max(0, leftByHosts) / (ChannelShare.factor + 1) * ChannelShare.factor
        return leftByHosts - min(restored, share)
    }

    /// Whether all channels together keep to the limit with these bytes more.
    func holds(_ byteCount: Int) -> Bool { usedByteCount + byteCount <= limitByteCount }

    fileprivate func add(_ byteCount: Int, isRestored: Bool) {
        used.wrappingAdd(byteCount, ordering: .relaxed)
        if isRestored { restored.wrappingAdd(byteCount, ordering: .relaxed) }
    }
}

/// The bytes that one host's channels take, of those that all may take.
///
/// A host may take three times what is then left for the others. One host alone comes to three
/// quarters of all, two of them to three sevenths each, and some is always left for the next host
/// (the dynamic thresholds of Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998).
/// Several threads count at once, so the share may be passed by what each of them adds.
package final class ChannelShare: Sendable {
    /// The share of a host as a multiple of the bytes that are left.
    static let factor = 3

    /// The memory of a host beside its channels, about.
    static let baseByteCount = 256

    private let budget: ChannelBudget
    private let isRestored: Bool
    private let used = Atomic(0)

    /// The share of a host that has nothing yet.
    ///
    /// Channels of an earlier run, which are restored, may take all.
    package init(of budget: ChannelBudget, isRestored: Bool = false) {
        self.budget = budget
        self.isRestored = isRestored
    }

    /// The bytes that the host's channels take.
    package var usedByteCount: Int { used.load(ordering: .relaxed) }

    /// Whether the host may take these bytes more; with 0, whether it keeps to its share; O(1).
    package func admits(_ byteCount: Int) -> Bool {
        if isRestored { return budget.holds(byteCount) }
        let left = budget.leftByteCount - byteCount
        return usedByteCount + byteCount <= left * Self.factor
    }

    /// Adds to the bytes that the host's channels take; a negative number subtracts.
    func add(_ byteCount: Int) {
        used.wrappingAdd(byteCount, ordering: .relaxed)
        budget.add(byteCount, isRestored: isRestored)
    }
}

/// The latest calls of a channel, so that none of them is executed twice.
///
/// A value without a lock. The sequences up to `highest`, less than `window` below it, are
/// remembered. A remembered sequence without a call was never executed, so its call may still come.
/// All lower sequences are forgotten and refused, because their calls may have been executed.
///
/// A channel costs little until it is used: the calls take memory as they are recorded, and that
/// memory counts as the share of the host that holds the channel.
package struct RecentCalls: Sendable {
    /// The number of sequences that are remembered.
    package static let window = CallRing.window
    /// The memory of a channel without calls, with its place in the table, about.
    package static let baseByteCount = 256

    package enum Decision: Equatable, Sendable {
        /// It was not executed: execute and record it.
        case execute
        case answer(Outcome)
        case fenced
        case reused
        /// Its sequence is too low to be remembered.
        case expired
        /// It was not executed, and the host may take no memory to record it.
        case noRoom
    }

    /// The channel's number, which outcomes name it by.
    package let channel: UInt64
    /// The number of the Hello that holds the channel; only its connection may call.
    package private(set) var epoch: UInt64 = 0
    /// The highest sequence that was executed; 0 is none.
    package private(set) var highest: UInt64 = 0
    private var ring = CallRing()
    /// The share that the channel's memory counts in; nil counts nowhere.
    private var share: ChannelShare?

    /// A channel that has not called yet, and counts in a host's share.
    package init(channel: UInt64, share: ChannelShare? = nil) {
        self.channel = channel
        self.share = share
        share?.add(byteCount)
    }

    /// The bytes that the channel takes, about.
    package var byteCount: Int { Self.baseByteCount + ring.byteCount }

    /// A Hello takes the channel over; calls of the epochs before are fenced from now on.
    package mutating func beginEpoch() -> UInt64 {
        epoch += 1
        return epoch
    }

    /// The channel's memory counts in another host's share from now on; nil counts nowhere.
    mutating func move(to other: ChannelShare?) {
        share?.add(-byteCount)
        other?.add(byteCount)
        share = other
    }

    /// Decides about a call with a sequence above 0; O(1), O(log calls) if there are gaps.
    @inline(__always)
    package func decision(
        sequence: UInt64,
        hash: UInt32,
        epoch: UInt64,
        recordsItems: Bool = false
    ) -> Decision {
        guard epoch == self.epoch else { return .fenced }
        if sequence <= highest {
            guard highest - sequence < UInt64(Self.window) else { return .expired }
            if let call = ring.call(sequence, highest: highest) {
                return call.hash == hash ? .answer(ring.outcome(of: call)) : .reused
            }
        }
        return (ring.hasRoom && !recordsItems) || mayGrow(items: recordsItems) ? .execute : .noRoom
    }

    /// Records the outcome of a call, in place of an earlier one, and returns it for the log.
    ///
    /// O(1) where sequences follow each other, otherwise O(calls). A forgotten sequence stays so.
    @discardableResult
    @inline(__always)
    package mutating func record(
        sequence: UInt64,
        hash: UInt32,
        _ outcome: Outcome
    ) -> ChannelOutcome {
        if sequence > highest, ring.hasRoom, !outcome.isItems {
            ring.append(sequence, hash: hash, outcome, highest: highest)
            highest = sequence
        } else {
            recordCounted(sequence, hash, outcome)
        }
        return ChannelOutcome(
            channel: channel,
            sequence: sequence,
            requestHash: hash,
            outcome: outcome
        )
    }

    /// Records any call, and counts the memory that it takes.
    @inline(never)
    private mutating func recordCounted(_ sequence: UInt64, _ hash: UInt32, _ outcome: Outcome) {
        let before = ring.byteCount
        if sequence > highest {
            ring.append(sequence, hash: hash, outcome, highest: highest)
            highest = sequence
        } else if highest - sequence < UInt64(Self.window) {
            ring.insert(sequence, hash: hash, outcome, highest: highest)
        }
        share?.add(ring.byteCount - before)
    }

    @inline(never)
    private func mayGrow(items: Bool) -> Bool {
        let growth = ring.growth(items: items)
        return growth == 0 || share?.admits(growth) ?? true
    }
}

extension Outcome {
    /// Whether it is of a batch.
    @inline(__always)
    fileprivate var isItems: Bool {
        if case .items = self { true } else { false }
    }
}

/// The calls that a channel remembers, in the order of their sequences.
///
/// Sequences without a call take no place, so the memory depends on the number of calls and not on
/// the gaps between their sequences. The caller passes the highest sequence.
private struct CallRing {
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

    /// The call of a sequence, if there is one; O(1), O(log calls) where there are gaps.
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

    /// Adds a call above all others, and removes the oldest ones; O(1) without gaps.
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

/// Sets of items in places that are used again.
private struct MaskPlaces {
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
