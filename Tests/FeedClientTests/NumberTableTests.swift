import FeedClient
import FeedTestSupport
import Testing

/// A table by numbers is a dictionary.
struct NumberTableTests {
    @Test("seeded operations", arguments: TestEnvironment.seeds(1...4))
    func equalsADictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = NumberTable<Int>()
        var model: [UInt64: Int] = [:]
        var last: UInt64 = 0
        for step in 0..<20_000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                last += 1
                table[last] = step
                model[last] = step
            case 3:
                // Numbers far behind the others share their homes.
                let number = UInt64.random(in: 1...(last + 64), using: &random)
                table[number] = step
                model[number] = step
            case 4:
                let number = UInt64.random(in: 1...(last + 8), using: &random)
                let changed: Void? = table.change(number) { value in value += 1 }
                #expect((changed == nil) == (model[number] == nil), "seed \(seed)")
                model[number]? += 1
            default:
                // The oldest go first, mostly.
                let number =
                    Bool.random(using: &random)
                    ? model.keys.min() ?? 1 : UInt64.random(in: 1...(last + 8), using: &random)
                let removed = table.removeValue(for: number)
                #expect(removed == model.removeValue(forKey: number), "seed \(seed)")
            }
            #expect(table.count == model.count, "seed \(seed)")
            let number = UInt64.random(in: 0...(last + 8), using: &random)
            #expect(table[number] == model[number], "seed \(seed)")
            #expect(table.contains(number) == (model[number] != nil), "seed \(seed)")
        }
        let all = Dictionary(uniqueKeysWithValues: table.map { ($0.key, $0.value) })
        #expect(all == model, "seed \(seed)")
    }
}
