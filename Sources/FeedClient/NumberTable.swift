/// Values by numbers above 0 that mostly count up, as tokens of calls and ids of frames do.
///
/// Numbers in a row have places in a row, their homes, so that a lookup looks at one place. A call takes
/// ten lookups, each of which costs a dictionary the hash of its key.
package struct NumberTable<Value> {
    private struct Entry {
        /// 0 is a free place.
        var number: UInt64 = 0
        var value: Value?
    }

    private var entries = [Entry](repeating: Entry(), count: 16)
    package private(set) var count = 0
    /// How many values are not at home, as another one was there before.
    ///
    /// Without any, no lookup goes on.
    private var displacedCount = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// The value of a number; O(1), expected.
    package subscript(number: UInt64) -> Value? {
        get { place(of: number).flatMap { entries[$0].value } }
        set {
            guard let newValue else {
                removeValue(for: number)
                return
            }
            if let place = place(of: number) {
                entries[place].value = newValue
            } else {
                insert(newValue, for: number)
            }
        }
    }

    /// Whether a number has a value; O(1), expected.
    package func contains(_ number: UInt64) -> Bool { place(of: number) != nil }

    /// A part of the value of a number, without a copy of the rest; O(1), expected.
    @inline(__always)
    package func part<Part>(of number: UInt64, _ part: (Value) -> Part) -> Part? {
        place(of: number).flatMap { entries[$0].value.map(part) }
    }

    /// Changes the value of a number in place; nil if there is none.
    @discardableResult
    package mutating func change<Result>(
        _ number: UInt64,
        _ body: (inout Value) -> Result
    ) -> Result? {
        guard let place = place(of: number), var value = entries[place].value.take() else {
            return nil
        }
        defer { entries[place].value = value }
        return body(&value)
    }

    /// Takes the value of a number out; O(1), expected.
    @discardableResult
    package mutating func removeValue(for number: UInt64) -> Value? {
        guard let place = place(of: number) else { return nil }
        let value = entries[place].value.take()
        entries[place].number = 0
        count -= 1
        if place != home(of: number) { displacedCount -= 1 }
        if displacedCount > 0 { closeGap(at: place) }
        return value
    }

    /// Moves values up that lookups would miss behind a place that has become free.
    private mutating func closeGap(at gap: Int) {
        var free = gap
        var place = gap
        while true {
            place = (place + 1) & (entries.count - 1)
            let number = entries[place].number
            guard number != 0 else { return }
            let home = home(of: number)
            guard (place - home) & (entries.count - 1) >= (place - free) & (entries.count - 1)
            else { continue }
            entries.swapAt(place, free)
            if free == home { displacedCount -= 1 }
            free = place
        }
    }

    private func home(of number: UInt64) -> Int {
        Int(truncatingIfNeeded: number) & (entries.count - 1)
    }

    private func place(of number: UInt64) -> Int? {
        guard number > 0 else { return nil }
        var place = home(of: number)
        while entries[place].number != number {
            guard entries[place].number != 0, displacedCount > 0 else { return nil }
            place = (place + 1) & (entries.count - 1)
        }
        return place
    }

    private mutating func insert(_ value: Value, for number: UInt64) {
        precondition(number > 0, "A table has numbers above 0.")
        if 2 * (count + 1) > entries.count { grow() }
        var place = home(of: number)
        if entries[place].number != 0 { displacedCount += 1 }
        while entries[place].number != 0 { place = (place + 1) & (entries.count - 1) }
        entries[place] = Entry(number: number, value: value)
        count += 1
    }

    private mutating func grow() {
        let old = entries
        entries = [Entry](repeating: Entry(), count: 2 * old.count)
        count = 0
        displacedCount = 0
        for entry in old {
            if let value = entry.value { insert(value, for: entry.number) }
        }
    }
}

extension NumberTable: Sequence {
    /// The numbers and their values, in no order; O(places).
    package func makeIterator() -> some IteratorProtocol<(key: UInt64, value: Value)> {
        entries.lazy.compactMap { entry in entry.value.map { (key: entry.number, value: $0) } }
            .makeIterator()
    }
}
