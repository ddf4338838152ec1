import FeedClient
import FeedTestSupport
import Testing

/// Calls in order, a bounded number at a time.
@Suite struct PipeliningTests {
    private struct Refused: Error, Equatable {
        let number: Int
    }

    /// The calls of a pipeline as they begin and end.
    private struct Calls {
        var begun: [Int] = []
        var inFlightCount = 0
        var mostInFlightCount = 0
    }

    /// Runs `count` calls, each of which ends after its own number of yields.
    private func run(
        _ count: Int,
        depth: Int,
        failingAt failing: Set<Int> = [],
        take: (Int) throws -> Void
    ) async throws -> Calls {
        let calls = Locked(Calls())
        var numbers = (0..<count).makeIterator()
        let result: Result<Void, any Error>
        do {
            try await FeedClient.pipeline(
                depth: depth,
                next: { numbers.next() },
                call: { number in
                    calls.withLock { calls in
                        calls.begun.append(number)
                        calls.inFlightCount += 1
                        calls.mostInFlightCount = max(calls.mostInFlightCount, calls.inFlightCount)
                    }
                    for _ in 0..<number * 7 % 11 { await Task.yield() }
                    calls.withLock { $0.inFlightCount -= 1 }
                    if failing.contains(number) { throw Refused(number: number) }
                    return number
                },
                take: take
            )
            result = .success(())
        } catch {
            result = .failure(error)
        }
        #expect(calls.withLock { $0.begun } == Array(0..<calls.withLock { $0.begun.count }))
        try result.get()
        return calls.withLock { $0 }
    }

    @Test(arguments: [1, 3, 16])
    func beginsAndTakesCallsInOrder(_ depth: Int) async throws {
        var taken: [Int] = []
        let calls = try await run(2_000, depth: depth) { taken.append($0) }
        #expect(calls.begun == Array(0..<2_000))
        #expect(taken == Array(0..<2_000))
        #expect(calls.mostInFlightCount <= depth)
    }

    @Test func endsWithTheFirstFailureAndTakesTheCallsInFlight() async throws {
        var taken: [Int] = []
        await #expect(throws: Refused(number: 20)) {
            _ = try await run(200, depth: 8, failingAt: [20, 22]) { taken.append($0) }
        }
        // No call begins behind the window of the first failure.
        let last = try #require(taken.last)
        #expect(last < 28)
        #expect(taken == (0...last).filter { $0 != 20 && $0 != 22 })
    }

    @Test func endsWhereAResultIsNotTaken() async throws {
        var taken = 0
        await #expect(throws: Refused(number: 5)) {
            _ = try await run(200, depth: 4) { number in
                if number == 5 { throw Refused(number: 5) }
                taken += 1
            }
        }
        #expect(taken >= 5 && taken < 9)
    }
}
