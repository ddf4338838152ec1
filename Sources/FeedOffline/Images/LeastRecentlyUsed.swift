/// Values by names, up to a number of bytes: the one that was used longest ago goes first.
///
/// Each use gets a number that counts up, and the order of use is a queue of them in which old uses of a
/// name are skipped; O(1), amortised.
package struct LeastRecentlyUsed<Value> {
    private struct Entry {
        var value: Value
        var byteCount: Int
        var use: UInt64
    }

    private let limit: Int
    /// By the bytes of the names: two addresses with equal characters are two.
    private var entries: [[UInt8]: Entry] = [:]
    private var uses: [(use: UInt64, name: String)] = []
    private var firstUse = 0
    private var lastUse: UInt64 = 0
    /// The uses that are kept, among them those that no longer count.
    package var keptUseCount: Int { uses.count }
    /// The bytes of all values.
    package private(set) var usedByteCount = 0

    /// An empty table of values that have so many bytes together at most.
    package init(byteCount: Int) { limit = max(0, byteCount) }

    /// A value, which is used by that; nil where there is none.
    package mutating func value(_ name: String) -> Value? {
        guard let value = entries[Array(name.utf8)]?.value else { return nil }
        use(name)
        return value
    }

    /// Adds or replaces a value and returns the names of those that went for it.
    ///
    /// The value itself goes where it is larger than the limit.
    @discardableResult
    package mutating func insert(_ value: Value, _ name: String, byteCount: Int) -> [String] {
        remove(name)
        guard byteCount <= limit else { return [name] }
        entries[Array(name.utf8)] = Entry(value: value, byteCount: byteCount, use: 0)
        usedByteCount += byteCount
        use(name)
        var removed: [String] = []
        while usedByteCount > limit, let oldest = takeOldest() {
            removed.append(oldest)
            remove(oldest)
        }
        return removed
    }

    /// Removes a value; nothing where there is none.
    package mutating func remove(_ name: String) {
        guard let entry = entries.removeValue(forKey: Array(name.utf8)) else { return }
        usedByteCount -= entry.byteCount
    }

    /// Removes all values.
    package mutating func removeAll() { self = LeastRecentlyUsed(byteCount: limit) }

    private mutating func use(_ name: String) {
        lastUse += 1
        entries[Array(name.utf8)]?.use = lastUse
        uses.append((lastUse, name))
        let left = uses.count - firstUse
        guard left > 2 * entries.count + 64 || firstUse > left + 64 else { return }
        uses = uses[firstUse...].filter { entries[Array($0.name.utf8)]?.use == $0.use }
        firstUse = 0
    }

    private mutating func takeOldest() -> String? {
        while firstUse < uses.count {
            let (use, name) = uses[firstUse]
            firstUse += 1
            if entries[Array(name.utf8)]?.use == use { return name }
        }
        return nil
    }
}
