import FeedTestSupport
import FeedTransport
import Testing

@Suite struct WriteQueueTests {
    private static func queue(high: Int = 100, low: Int = 20) -> WriteQueue {
        var configuration = TransportConfiguration()
        configuration.highWatermarkByteCount = high
        configuration.lowWatermarkByteCount = low
        return WriteQueue(configuration)
    }

    @Test func keepsOneWriteAtATime() {
        var queue = Self.queue()
        let startsFirst = queue.append(10)
        queue.startWrite()
        let startsSecond = queue.append(5)
        let startsThird = queue.append(6)
        #expect([startsFirst, startsSecond, startsThird] == [true, false, false])
        #expect(queue.inFlightByteCount == 10)
        let needsWrite = queue.endWrite()
        #expect(needsWrite)
        queue.startWrite()
        #expect(queue.inFlightByteCount == 11)
        let needsWriteAgain = queue.endWrite()
        #expect(!needsWriteAgain)
        #expect(queue.isEmpty)
    }

    @Test func isAboveFromTheHighWatermarkToTheLowOne() {
        var queue = Self.queue()
        _ = queue.append(99)
        #expect(!queue.isAboveHighWatermark)
        queue.startWrite()
        _ = queue.append(1)
        #expect(queue.isAboveHighWatermark)
        _ = queue.append(20)
        _ = queue.endWrite()
        #expect(queue.byteCount == 21)
        #expect(queue.isAboveHighWatermark)
        queue.startWrite()
        _ = queue.append(20)
        _ = queue.endWrite()
        #expect(queue.byteCount == 20)
        #expect(!queue.isAboveHighWatermark)
    }

    @Test func forgetsEverythingAtOnce() {
        var queue = Self.queue()
        _ = queue.append(150)
        queue.startWrite()
        _ = queue.append(7)
        #expect(queue.byteCount == 157)
        queue.removeAll()
        #expect(queue.isEmpty)
        #expect(!queue.isAboveHighWatermark)
    }

    @Test(arguments: 0..<8)
    func countsWhatAModelCounts(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = Self.queue()
        var appended = 0
        var inFlight = 0
        for step in 0..<1_000 {
            if Bool.random(using: &random) {
                let count = Int.random(in: 1...40, using: &random)
                appended += count
                if queue.append(count) {
                    queue.startWrite()
                    #expect(inFlight == 0, "seed \(seed), step \(step)")
                    (inFlight, appended) = (appended, 0)
                }
            } else if inFlight > 0 {
                inFlight = 0
                if queue.endWrite() {
                    queue.startWrite()
                    (inFlight, appended) = (appended, 0)
                }
            }
            #expect(queue.appendedByteCount == appended, "seed \(seed), step \(step)")
            #expect(queue.inFlightByteCount == inFlight, "seed \(seed), step \(step)")
        }
    }
}
