import FeedLog

struct PendingChannel {
    /// An outcome without what all of a channel share; 24 bytes, as each channel may have 256.
    private struct Place {
        var sequence: UInt64 = 0
        /// The id, the items of a small batch as bits, or the index of the mask.
        var value: UInt64 = 0
        var requestHash: UInt32 = 0
        var kind = Kind.done
    }

    private enum Kind: UInt8 {
        case done
        case id
        /// Some of items 0 to 63, so that most batches need no mask.
        case firstWord
        case items
    }

    let number: UInt64
    /// Whose it is, where it was first seen since the last checkpoint.
    var state: ChannelState?
    var isDeleted = false
    /// A power of two, at most 256: an outcome's place is its sequence's low bits.
    private var places: [Place] = []
    private var masks: [ItemMask] = []
    private var highest: UInt64 = 0

    init(number: UInt64) {
        self.number = number
    }

    /// Keeps an outcome, unless a later call has pushed it out of the window; O(1) on average.
    mutating func set(_ outcome: ChannelOutcome) {
        highest = max(highest, outcome.sequence)
        guard OutcomeRing.isWithin(outcome.sequence, highest) else { return }
        if places.isEmpty { places = [Place(), Place(), Place(), Place()] }
        while true {
            let index = Int(outcome.sequence & UInt64(places.count - 1))
            let old = places[index].sequence
            if old == 0 || old == outcome.sequence || !OutcomeRing.isWithin(old, highest) {
                // Of a call that is known, the items of both count.
                let joined =
                    old == outcome.sequence
                    ? OutcomeRing.join(read(places[index]), outcome) : outcome
                places[index] = write(joined, over: old == 0 ? nil : places[index])
                return
            }
            spread()
        }
    }

    mutating func removeOutcomes() {
        places = []
        masks = []
        highest = 0
    }

    var outcomes: [ChannelOutcome] {
        places.filter { $0.sequence != 0 && OutcomeRing.isWithin($0.sequence, highest) }
            .map(read)
    }

    var byteCount: Int { places.count * 24 + masks.count * 32 }

    private mutating func spread() {
        let old = places
        places = [Place](repeating: Place(), count: old.count * 2)
        for place in old where place.sequence != 0 {
            let index = Int(place.sequence & UInt64(places.count - 1))
            if places[index].sequence < place.sequence { places[index] = place }
        }
    }

    private func read(_ place: Place) -> ChannelOutcome {
        let outcome: Outcome =
            switch place.kind {
            case .done: .done
            case .id: .id(place.value)
            case .firstWord: .items(ItemMask(place.value))
            case .items: .items(masks[Int(place.value)])
            }
        return ChannelOutcome(
            channel: number,
            sequence: place.sequence,
            requestHash: place.requestHash,
            outcome: outcome
        )
    }

    private mutating func write(_ outcome: ChannelOutcome, over old: Place?) -> Place {
        var place = Place(sequence: outcome.sequence, requestHash: outcome.requestHash)
        switch outcome.outcome {
        case .done: break
        case .id(let id):
            place.kind = .id
            place.value = id
        case .items(let mask):
            if let old, old.kind == .items {
                place.kind = .items
                place.value = old.value
                masks[Int(old.value)] = mask
            } else if mask == ItemMask(mask.word0) {
                place.kind = .firstWord
                place.value = mask.word0
            } else {
                place.kind = .items
                place.value = UInt64(masks.count)
                masks.append(mask)
            }
        }
        return place
    }
}
