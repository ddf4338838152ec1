import FeedTransport
import Testing

@Suite struct ConnectionLifeTests {
    @Test func goesThroughAllStatesInOrder() {
        var life = ConnectionLife.connecting
        #expect(!life.isOpen && life.closeReason == nil)
        life.open()
        #expect(life.isOpen && !life.isFlushing && life.closeReason == nil)
        life.flush(.peerClosed)
        #expect(!life.isOpen && life.isFlushing && life.closeReason == .peerClosed)
        life.linger()
        #expect(!life.isFlushing && !life.isClosed && life.closeReason == .peerClosed)
        life.close(.peerClosed)
        #expect(life.isClosed && !life.isOpen)
    }

    @Test(arguments: 0..<4)
    func closesFromEveryState(stepCount: Int) {
        var life = ConnectionLife.connecting
        if stepCount > 0 { life.open() }
        if stepCount > 1 { life.flush(.local) }
        if stepCount > 2 { life.linger() }
        life.close(.reset)
        #expect(life.isClosed && life.closeReason == .reset)
    }

    @Test func trapsWhereAStateIsSkipped() async {
        await #expect(processExitsWith: .failure) {
            var life = ConnectionLife.open
            life.open()
        }
        await #expect(processExitsWith: .failure) {
            var life = ConnectionLife.connecting
            life.flush(.local)
        }
        await #expect(processExitsWith: .failure) {
            var life = ConnectionLife.open
            life.linger()
        }
        await #expect(processExitsWith: .failure) {
            var life = ConnectionLife.closed(.local)
            life.close(.reset)
        }
    }
}
