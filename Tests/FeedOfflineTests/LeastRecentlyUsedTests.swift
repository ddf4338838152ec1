import FeedOffline
import FeedTestSupport
import Testing

/// What stays in a table with a limit, beside a list that is searched.
@Suite
struct LeastRecentlyUsedTests {
    @Test func theOneUsedLongestAgoGoes() {
        var generator = SeededGenerator(seed: 11)
        var table = LeastRecentlyUsed<Int>(byteCount: 1_000)
        /// Names, the one used longest ago first.
        var used: [(name: String, byteCount: Int)] = []
        for round in 0..<10_000 {
            let name = "name \(Int.random(in: 0..<60, using: &generator))"
            let place = used.firstIndex { $0.name == name }
            if Bool.random(using: &generator) {
                #expect((table.value(name) != nil) == (place != nil))
                if let place { used.append(used.remove(at: place)) }
                continue
            }
            let byteCount = Int.random(in: 1...100, using: &generator)
            if let place { used.remove(at: place) }
            used.append((name, byteCount))
            var removed: [String] = []
            while used.reduce(0, { $0 + $1.byteCount }) > 1_000 {
                removed.append(used.removeFirst().name)
            }
            #expect(table.insert(round, name, byteCount: byteCount) == removed)
            #expect(table.usedByteCount == used.reduce(0) { $0 + $1.byteCount })
        }
    }

    @Test func namesAreComparedByteByByte() {
        var table = LeastRecentlyUsed<Int>(byteCount: 1_000)
        table.insert(1, "\u{e9}", byteCount: 10)
        table.insert(2, "e\u{301}", byteCount: 10)
        #expect(table.value("\u{e9}") == 1)
        #expect(table.value("e\u{301}") == 2)
        #expect(table.usedByteCount == 20)
    }

    @Test func aRunOfNewNamesKeepsNoOldUses() {
        var table = LeastRecentlyUsed<Int>(byteCount: 1_000)
        for round in 0..<100_000 { table.insert(round, "name \(round)", byteCount: 10) }
        #expect(table.usedByteCount == 1_000)
        #expect(table.keptUseCount < 1_000)
    }
}
