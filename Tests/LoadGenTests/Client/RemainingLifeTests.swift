import LoadGen
import Testing

/// When a connection of the load is to be closed and opened again.
@Suite struct RemainingLifeTests {
    private static let second: UInt64 = 1_000_000_000

    private func begun(
        requestCount: UInt64? = nil,
        age: Duration? = nil,
        jitter: Duration = .zero,
        client: Int = 0
    ) -> RemainingLife {
        var life = ConnectionLife()
        (life.requestCount, life.age, life.jitter) = (requestCount, age, jitter)
        let ages = RandomStream(seed: 7, thread: 0, client: client, purpose: .lives)
        var remaining = RemainingLife(life, ages: ages)
        remaining.begin(at: Self.second)
        return remaining
    }

    @Test func aLifeWithoutLimitsHasNoEnd() {
        let life = begun()
        #expect(!life.isCounted)
        #expect(!life.isUsedUp)
        #expect(!life.isOver(at: .max - 1))
        #expect(life.limited(64) == 64)
    }

    @Test func requestsEndALifeThatIsCounted() {
        var life = begun(requestCount: 100)
        #expect(life.limited(64) == 64)
        life.take(64)
        #expect(life.limited(64) == 36)
        #expect(!life.isUsedUp)
        life.take(36)
        #expect(life.limited(64) == 0)
        #expect(life.isUsedUp)
    }

    @Test func theNextLifeTakesAsManyAgain() {
        var life = begun(requestCount: 2)
        life.take(2)
        life.begin(at: 2 * Self.second)
        #expect(!life.isUsedUp)
        #expect(life.limited(64) == 2)
    }

    @Test func anAgeCountsFromTheBegin() {
        let life = begun(age: .seconds(30))
        #expect(!life.isOver(at: 31 * Self.second - 1))
        #expect(life.isOver(at: 31 * Self.second))
        #expect(!life.isCounted)
    }

    @Test func agesLieAroundTheirMiddleAndDiffer() {
        var ends: Set<Bool> = []
        for client in 0..<100 {
            let life = begun(age: .seconds(30), jitter: .seconds(5), client: client)
            #expect(!life.isOver(at: 26 * Self.second - 1))
            #expect(life.isOver(at: 36 * Self.second))
            ends.insert(life.isOver(at: 31 * Self.second))
        }
        #expect(ends == [false, true])
    }
}
