import FeedService
import Testing

@Suite struct SessionLifeTests {
    typealias StateMachine = SessionLife

    @Test func executesRisingIDs() {
        var state = StateMachine()
        #expect(state.action(for: 1) == .execute)
        state.answered(1)
        #expect(state.action(for: 7) == .execute)
        state.answered(7)
        #expect(state.lastID == 7)
    }

    @Test(arguments: [0, 1, 6, 7] as [UInt64])
    func refusesIDsThatDoNotRise(_ id: UInt64) {
        var state = StateMachine()
        state.answered(7)
        #expect(state.action(for: id) == .refuse(lastID: 7))
    }

    @Test func refusesID0AtTheStart() {
        #expect(StateMachine().action(for: 0) == .refuse(lastID: 0))
    }

    @Test func goesOnExecutingWhileDraining() {
        var state = StateMachine()
        state.drain()
        #expect(state.isDraining)
        #expect(!state.isClosing)
        #expect(state.action(for: 1) == .execute)
    }

    @Test func ignoresEverythingOnceClosing() {
        var state = StateMachine()
        let isFirst = state.close()
        let isRepeat = !state.close()
        #expect(isFirst)
        #expect(isRepeat)
        #expect(state.isClosing)
        #expect(state.action(for: 1) == .ignore)
        state.drain()
        #expect(!state.isDraining)
    }
}
