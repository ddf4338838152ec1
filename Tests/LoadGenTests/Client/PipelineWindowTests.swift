import LoadGen
import Testing

@Suite struct PipelineWindowTests {
    @Test func windowMakesRoomWithEachAnswer() {
        var window = PipelineWindow(depth: 4, mode: .window)
        #expect(window.room == 4)
        window.send(4)
        #expect(window.room == 0)
        window.answer(1)
        #expect(window.room == 1)
        window.send(1)
        window.answer(4)
        #expect(window.room == 4)
    }

    @Test func batchMakesRoomWithTheLastAnswerOnly() {
        var window = PipelineWindow(depth: 4, mode: .batch)
        window.send(4)
        for _ in 0..<3 {
            window.answer(1)
            #expect(window.room == 0)
        }
        window.answer(1)
        #expect(window.room == 4)
    }

    @Test(arguments: PipelineMode.allCases)
    func neverHoldsMoreThanItsDepth(_ mode: PipelineMode) {
        var window = PipelineWindow(depth: 7, mode: mode)
        var stream = RandomStream(seed: 11, thread: 0, client: 0)
        for _ in 0..<10_000 {
            if stream.nextIndex(below: 2) == 0 {
                window.send(window.room)
            } else if window.inFlightCount > 0 {
                window.answer(1 + stream.nextIndex(below: window.inFlightCount))
            }
            #expect((0...7).contains(window.inFlightCount))
            #expect(window.room >= 0 && window.room + window.inFlightCount <= 7)
        }
    }
}
