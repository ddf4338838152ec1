import FeedState
import Testing

@Suite struct BackupPhaseTests {
    private typealias Phase = BackupPhase<Int>

    @Test func aBackupPassesEachPhaseAndAnswersItsRequest() {
        var phase = Phase.idle
        #expect(phase.isIdle && phase.wantedRecord == nil && !phase.isReading)
        let isTaken = phase.begin(7, through: 40)
        #expect(isTaken)
        #expect(!phase.isIdle && phase.wantedRecord == 40 && !phase.isReading)
        let isCopying = phase.beginCopying()
        #expect(isCopying)
        #expect(!phase.isIdle && phase.wantedRecord == nil && phase.isReading)
        let isVerifying = phase.beginVerifying()
        #expect(isVerifying)
        #expect(phase.isVerifying && phase.wantedRecord == nil && !phase.isReading)
        let isFinishing = phase.beginFinishing()
        #expect(isFinishing)
        #expect(!phase.isIdle && !phase.isVerifying && phase.wantedRecord == nil)
        #expect(phase.complete() == 7)
        #expect(phase == .idle)
    }

    @Test(
        arguments: [
            .waiting(7, through: 40), .copying(7), .verifying(7), .finishing(7), .cancelled,
        ] as [Phase]
    )
    private func oneIsMadeAtATime(_ before: Phase) {
        var phase = before
        let isTaken = phase.begin(8, through: 41)
        #expect(!isTaken)
        #expect(phase == before)
    }

    @Test func aRequestThatWaitsIsCancelledAtOnce() {
        var phase = Phase.waiting(7, through: 40)
        #expect(phase.cancel() == 7)
        #expect(phase == .idle)
        let isCopying = phase.beginCopying()
        #expect(!isCopying)
        #expect(phase == .idle)
    }

    @Test(arguments: [.copying(7), .verifying(7)] as [Phase])
    private func aCancelledCopyIsAnsweredOnceAndEndsLater(_ before: Phase) {
        var phase = before
        #expect(phase.cancel() == 7)
        #expect(phase == .cancelled && !phase.isReading && !phase.isIdle)
        #expect(phase.cancel() == nil)
        let isVerifying = phase.beginVerifying()
        let isFinishing = phase.beginFinishing()
        #expect(!isVerifying && !isFinishing)
        #expect(phase == .cancelled)
        #expect(phase.end() == nil)
        #expect(phase == .idle)
    }

    @Test func aCopyThatGetsItsNameIsNotCancelled() {
        var phase = Phase.finishing(7)
        #expect(phase.cancel() == nil)
        #expect(phase == .finishing(7))
    }

    @Test(arguments: [.copying(7), .verifying(7), .finishing(7)] as [Phase])
    private func aCopyThatFailsAnswersItsRequest(_ before: Phase) {
        var phase = before
        #expect(phase.end() == 7)
        #expect(phase == .idle)
    }

    @Test func nothingIsCancelledWhereNoBackupIsUnderWay() {
        var phase = Phase.idle
        #expect(phase.cancel() == nil)
        #expect(phase == .idle)
    }
}
