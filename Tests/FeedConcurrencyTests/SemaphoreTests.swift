import FeedConcurrency
import Testing

/// A wait takes one signal, or waits for one.
@Suite struct SemaphoreTests {
    @Test func aWaitTakesOneSignal() {
        let semaphore = Semaphore(count: 1)
        semaphore.signal()
        #expect(semaphore.wait(upTo: .zero))
        #expect(semaphore.wait(upTo: .zero))
        #expect(!semaphore.wait(upTo: .zero))
    }

    @Test func aWaitEndsWithoutASignal() {
        let began = ContinuousClock.now
        #expect(!Semaphore().wait(upTo: .milliseconds(2)))
        // The least time is the contract; how much later the wait ends is the machine's matter.
        #expect(began.duration(to: .now) >= .milliseconds(2))
    }

    @Test func aResetDropsSignals() {
        let semaphore = Semaphore(count: 2)
        semaphore.reset()
        #expect(!semaphore.wait(upTo: .zero))
    }

    @Test func eachSignalEndsOneWait() {
        let (ping, pong) = (Semaphore(), Semaphore())
        let thread = NamedThread("echo")
        thread.startOrTrap {
            for _ in 0..<1_000 {
                ping.wait()
                pong.signal()
            }
        }
        for _ in 0..<1_000 {
            ping.signal()
            pong.wait()
        }
        thread.join()
        #expect(!ping.wait(upTo: .zero))
        #expect(!pong.wait(upTo: .zero))
    }

    @Test func aLongWaitEndsWithTheSignal() {
        let (ready, signal) = (Semaphore(), Semaphore())
        let thread = NamedThread("signaller")
        thread.startOrTrap {
            ready.wait()
            signal.signal()
        }
        ready.signal()
        #expect(signal.wait(upTo: .seconds(Int64.max)))
        thread.join()
    }
}
