import FeedTestSupport
import FeedTransport
import Testing

@Suite struct ReadBufferTests {
    private func contents(_ buffer: ReadBuffer) -> [UInt8] {
        buffer.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }

    @Test(arguments: 0..<8)
    func holdsWhatAnArrayWouldHold(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var buffer = ReadBuffer()
        var model: [UInt8] = []
        for step in 0..<500 {
            if Bool.random(using: &random) {
                let bytes = random.bytes(Int.random(in: 0...300, using: &random))
                bytes.withRawSpan { buffer.append($0) }
                model += bytes
            } else {
                let count = Int.random(in: 0...model.count, using: &random)
                buffer.consume(count)
                model.removeFirst(count)
            }
            #expect(buffer.byteCount == model.count, "seed \(seed), step \(step)")
            #expect(contents(buffer) == model, "seed \(seed), step \(step)")
            #expect(buffer.isEmpty == model.isEmpty, "seed \(seed), step \(step)")
        }
    }

    @Test func dropsEverythingAtOnce() {
        var buffer = ReadBuffer()
        [UInt8](repeating: 7, count: 10_000).withRawSpan { buffer.append($0) }
        buffer.consume(5)
        buffer.removeAll()
        #expect(buffer.isEmpty)
        [1, 2].withRawSpan { buffer.append($0) }
        #expect(contents(buffer) == [1, 2])
    }
}
