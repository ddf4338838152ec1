import FeedJournal
import FeedState
import Testing

@Suite struct CommitBatchQueueTests {
    private static func position(_ number: UInt64) -> JournalPosition {
        JournalPosition(number: number, hash: number &* 31)
    }

    @Test func commitBatchesAreTakenOnceAndInTheirOrder() {
        let queue = CommitBatchQueue()
        var taken = TakenBatches()
        #expect(!queue.take(into: &taken) && taken.isEmpty)
        for number in 1...3 as ClosedRange<UInt64> {
            _ = queue.submit([UInt8(number)], at: Self.position(number))
        }
        #expect(queue.take(into: &taken))
        // What comes meanwhile waits for the next look.
        _ = queue.submit([4], at: Self.position(4))
        var numbers: [UInt64] = []
        while !taken.isEmpty {
            let commitBatch = taken.removeFirst()
            #expect(commitBatch.body == [UInt8(commitBatch.position.number)])
            numbers.append(commitBatch.position.number)
        }
        // The queue's array has no second reference to a body, which would be copied to be changed.
        #expect(taken.commitBatches.allSatisfy { $0.body.isEmpty })
        #expect(numbers == [1, 2, 3])
        #expect(queue.take(into: &taken))
        #expect(taken.removeFirst().position == Self.position(4))
        #expect(taken.isEmpty && !queue.take(into: &taken))
    }

    @Test func theTakerIsWokenOnceForEachTimeThatManyBytesWait() {
        let queue = CommitBatchQueue()
        var taken = TakenBatches()
        let half = [UInt8](repeating: 0, count: CommitBatchQueue.wakingByteCount / 2)
        for _ in 1...2 {
            #expect(!queue.submit(half, at: Self.position(1)).isToWake)
            #expect(queue.submit(half, at: Self.position(2)).isToWake)
            #expect(!queue.submit(half, at: Self.position(3)).isToWake)
            #expect(queue.take(into: &taken))
        }
    }

    @Test func forgottenChannelsAreTakenWithTheCommitBatchesBeforeThem() {
        let queue = CommitBatchQueue()
        var taken = TakenBatches()
        queue.deleteRows(ofChannels: [7])
        queue.deleteRows(ofChannels: [8, 9])
        #expect(queue.take(into: &taken))
        #expect(taken.isEmpty && taken.forgottenChannels == [7, 8, 9])
        // Each take swaps the arrays of the two sides, so only the second take shows an array again
        // that was not emptied.
        for _ in 1...2 {
            #expect(!queue.take(into: &taken))
            #expect(taken.forgottenChannels == [])
        }
    }

    @Test func theMemoryOfSmallBodiesComesBack() {
        let queue = CommitBatchQueue()
        var taken = TakenBatches()
        #expect(queue.submit([1], at: Self.position(1)).spare.capacity == 0)
        _ = queue.take(into: &taken)
        var small: [UInt8] = []
        small.reserveCapacity(1000)
        var large: [UInt8] = []
        large.reserveCapacity(CommitBatchQueue.spareByteCount + 1)
        taken.reuse(small)
        taken.reuse(large)
        _ = taken.removeFirst()
        _ = queue.take(into: &taken)
        let spare = queue.submit([2], at: Self.position(2)).spare
        #expect(spare.capacity >= 1000 && spare.capacity <= CommitBatchQueue.spareByteCount)
        #expect(queue.submit([3], at: Self.position(3)).spare.capacity == 0)
    }

    @Test func noMoreBodiesAreKeptThanTheLimit() {
        let queue = CommitBatchQueue()
        var taken = TakenBatches()
        var body: [UInt8] = []
        body.reserveCapacity(1000)
        // Those of two looks, of which the queue keeps as many as of one.
        for _ in 1...2 {
            for _ in 0...CommitBatchQueue.spareCount { taken.reuse(body) }
            #expect(taken.spares.count == CommitBatchQueue.spareCount)
            _ = queue.take(into: &taken)
            #expect(taken.spares.isEmpty)
        }
        var count = 0
        while queue.submit([], at: Self.position(1)).spare.capacity > 0 { count += 1 }
        #expect(count == CommitBatchQueue.spareCount)
    }
}
