import FeedConcurrency
import FeedTestSupport
import Testing

@Suite struct BoundedTableTests {
    private typealias Table = BoundedTable<Int, UInt64>

    /// As the sign-ins of a host with the right password, which are counted and taken back.
    @Test func removedKeysPushOutNoOthers() {
        var table = Table(maximumCount: 4)
        table.set(0, to: 1) { $0 }
        for key in 1..<100 {
            table.set(key, to: 9) { $0 }
            table.remove(key)
        }
        #expect(table[0] == 1)
        #expect(table.count == 1)
        #expect(table.lookCount == 0)
    }

    @Test func keysThatCostLittlePushOutNoneThatCostsMuch() {
        var table = Table(maximumCount: 64)
        table.set(0, to: 6) { $0 }
        for key in 1..<10_000 { table.set(key, to: 1) { $0 } }
        #expect(table[0] == 6)
        #expect(table[9_999] == 1)
        #expect(table.count == 64)
        #expect(table.lookCount == (10_000 - 64) * Table.lookLimit)
        // A key that costs nothing gives its place at the first look.
        let looks = table.lookCount
        table.set(-1, to: 1) { _ in 0 }
        #expect(table.lookCount == looks + 1)
    }

    /// Places change when keys are removed and replaced: each key keeps its own value.
    @Test func keysKeepTheirValues() {
        var random = SeededGenerator(seed: 1)
        var table = Table(maximumCount: 50)
        var model: [Int: UInt64] = [:]
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<100, using: &random)
            if random.oneIn(3) {
                table.remove(key)
                model[key] = nil
            } else {
                let value = UInt64.random(in: 0..<10, using: &random)
                table.set(key, to: value) { $0 }
                model[key] = value
                if model.count > 50 {
                    let lost = model.keys.filter { table[$0] == nil }
                    #expect(lost.count == 1 && lost != [key])
                    for key in lost { model[key] = nil }
                }
            }
            #expect(table.count == model.count)
            #expect(table[key] == model[key])
        }
        #expect(model.allSatisfy { table[$0.key] == $0.value })
    }
}
