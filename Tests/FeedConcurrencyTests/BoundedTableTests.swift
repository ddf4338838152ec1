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

@Suite struct FairQueueTests {
    private var queue = FairQueue<String, Int>(halvingCost: 1_000_000)

    @Test mutating func aNewcomerDoesNotWaitBehindOthers() {
        for number in 0..<100 { queue.append(number, of: "greedy") }
        #expect(queue.popFirst()?.element == 0)
        queue.charge("greedy", 10)
        queue.append(100, of: "newcomer")
        #expect(queue.popFirst()?.element == 100)
        #expect(queue.popFirst()?.element == 1)
    }

    /// An owner with one element at a time has no more turns than one with many in the queue.
    @Test mutating func whoComesAgainIsNoNewcomer() {
        for number in 0..<10 { queue.append(number, of: "queued") }
        queue.append(100, of: "again")
        var turns: [String] = []
        while turns.count < 10, let (owner, _) = queue.popFirst() {
            turns.append(owner)
            queue.charge(owner, 10)
            if owner == "again" { queue.append(100, of: "again") }
        }
        #expect(turns.count { $0 == "again" } == 5)
    }

    @Test mutating func sharesAreOfCostAndNotOfNumber() {
        for number in 0..<100 {
            queue.append(number, of: "cheap")
            queue.append(number, of: "dear")
        }
        var turns: [String: Int] = [:]
        for _ in 0..<80 {
            guard let (owner, _) = queue.popFirst() else { break }
            turns[owner, default: 0] += 1
            queue.charge(owner, owner == "dear" ? 300 : 100)
        }
        #expect(turns == ["cheap": 60, "dear": 20])
    }

    @Test func costsFade() {
        var queue = FairQueue<String, Int>(halvingCost: 100)
        queue.charge("early", 90)
        for _ in 0..<10 { queue.charge("other", 100) }
        queue.append(1, of: "early")
        queue.append(2, of: "newcomer")
        // What has faded to nothing counts as nothing: the one that came first is first.
        #expect(queue.popFirst()?.element == 1)
    }

    /// Who was alone has taken nothing from others.
    @Test mutating func costsOfAnEmptyQueueAreForgotten() {
        queue.append(0, of: "early")
        #expect(queue.popFirst()?.element == 0)
        queue.charge("early", 30_000)
        queue.append(1, of: "early")
        queue.forgetCosts()
        queue.append(2, of: "newcomer")
        #expect(queue.popFirst()?.element == 2)
        #expect(queue.popFirst()?.element == 1)
        queue.forgetCosts()
        queue.append(3, of: "early")
        queue.append(4, of: "newcomer")
        #expect(queue.popFirst()?.element == 3)
    }

    @Test mutating func whoIsBelowHalfTheMeanIsBelowItsShare() {
        #expect(!queue.isNextBelowShare)
        for number in 0..<3 { queue.append(number, of: "greedy") }
        // An owner that is alone has its share.
        #expect(!queue.isNextBelowShare)
        queue.charge("greedy", 6_000)
        #expect(!queue.isNextBelowShare)
        queue.append(3, of: "modest")
        #expect(queue.isNextBelowShare)
        queue.charge("modest", 1_999)
        #expect(queue.isNextBelowShare)
        // Half the mean of 6,000 and 2,000.
        queue.charge("modest", 1)
        #expect(!queue.isNextBelowShare)
    }

    @Test mutating func theNewestOfTheGreediestGivesWay() {
        for number in 0..<3 { queue.append(number, of: "greedy") }
        queue.append(10, of: "modest")
        #expect(queue.giveWay(to: "newcomer") == 2)
        #expect(queue.giveWay(to: "modest") == nil)
        #expect(queue.giveWay(to: "newcomer") == 1)
        // All have one: nobody has to make room.
        #expect(queue.giveWay(to: "newcomer") == nil)
        #expect(queue.count == 2)
    }

    @Test(arguments: TestEnvironment.seeds(1...20)) func keepsTheOrderOfEachOwner(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = FairQueue<Int, Int>(halvingCost: 500)
        var model: [Int: [Int]] = [:]
        for number in 0..<2_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4:
                let owner = Int.random(in: 0..<8, using: &random)
                queue.append(number, of: owner)
                model[owner, default: []].append(number)
            case 5...7:
                guard let (owner, element) = queue.popFirst() else { break }
                let expected = model[owner]?.removeFirst()
                #expect(element == expected, "seed \(seed)")
                queue.charge(owner, Int.random(in: 0..<50, using: &random))
            case 8:
                let owner = Int.random(in: 0..<8, using: &random)
                guard let element = queue.giveWay(to: owner) else { break }
                let most = model.values.map(\.count).max() ?? 0
                let from = model.first { $0.value.last == element }
                #expect(from?.value.count == most, "seed \(seed)")
                if let key = from?.key { model[key]?.removeLast() }
            default:
                let taken = queue.removeAll { $0 % 13 == 0 }
                #expect(Set(taken) == Set(model.values.joined().filter { $0 % 13 == 0 }))
                model = model.mapValues { $0.filter { $0 % 13 != 0 } }
            }
            #expect(queue.count == model.values.reduce(0) { $0 + $1.count }, "seed \(seed)")
        }
    }
}

@Suite struct ObjectMemoryTests {
    private final class Item {}

    @Test func doesNotKeepItsObject() {
        var item: Item? = Item()
        weak let observed = item
        let memory = item.map { ObjectMemory.of($0, byteCount: 200) } ?? .none
        memory.prefetch()
        #expect(observed != nil)
        item = nil
        #expect(observed == nil)
        // The address has no object now, and 0 never had one; neither faults.
        memory.prefetch()
        ObjectMemory.none.prefetch()
    }
}
