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

    @Test func keepsOneFlightAtATime() {
        var queue = Self.queue()
        let startsFirst = queue.append(10)
        queue.startFlight()
        let startsSecond = queue.append(5)
        let startsThird = queue.append(6)
        #expect([startsFirst, startsSecond, startsThird] == [true, false, false])
        #expect(queue.inFlightByteCount == 10)
        let goesOn = queue.endFlight()
        #expect(goesOn)
        queue.startFlight()
        #expect(queue.inFlightByteCount == 11)
        let goesOnAgain = queue.endFlight()
        #expect(!goesOnAgain)
        #expect(queue.isEmpty)
    }

    @Test func isAboveFromTheHighWatermarkToTheLowOne() {
        var queue = Self.queue()
        _ = queue.append(99)
        #expect(!queue.isAboveHighWatermark)
        queue.startFlight()
        _ = queue.append(1)
        #expect(queue.isAboveHighWatermark)
        _ = queue.append(20)
        _ = queue.endFlight()
        #expect(queue.byteCount == 21)
        #expect(queue.isAboveHighWatermark)
        queue.startFlight()
        _ = queue.append(20)
        _ = queue.endFlight()
        #expect(queue.byteCount == 20)
        #expect(!queue.isAboveHighWatermark)
    }

    @Test func forgetsEverythingAtOnce() {
        var queue = Self.queue()
        _ = queue.append(150)
        queue.startFlight()
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
                    queue.startFlight()
                    #expect(inFlight == 0, "seed \(seed), step \(step)")
                    (inFlight, appended) = (appended, 0)
                }
            } else if inFlight > 0 {
                inFlight = 0
                if queue.endFlight() {
                    queue.startFlight()
                    (inFlight, appended) = (appended, 0)
                }
            }
            #expect(queue.appendedByteCount == appended, "seed \(seed), step \(step)")
            #expect(queue.inFlightByteCount == inFlight, "seed \(seed), step \(step)")
        }
    }
}
