import FeedConcurrency
import Glibc
import Testing

/// Locks let one thread at a time use what they guard.
@Suite struct LockTests {
    private static let threadCount = 4
    private static let roundCount = 20_000

    /// A counter that no lock of its own guards.
    private final class Counter: @unchecked Sendable {
        var value = 0
    }

    /// Runs a body on several threads at once, and returns when all have ended.
    private func onThreads(_ body: @escaping @Sendable () -> Void) {
        let threads = (0..<Self.threadCount).map { NamedThread("lock-test-\($0)") }
        for thread in threads { thread.startOrTrap(body) }
        for thread in threads { thread.join() }
    }

    @Test func noAdditionIsLost() {
        let sum = SharedSum()
        onThreads {
            for _ in 0..<Self.roundCount { sum.value.withLock { $0 += 1 } }
        }
        #expect(sum.value.withLock { $0 } == Self.threadCount * Self.roundCount)
    }

    @Test func noAdditionIsLostWhereThreadsTryFirst() {
        let sum = SharedSum()
        onThreads {
            for _ in 0..<Self.roundCount {
                if sum.value.withLockIfAvailable({ $0 += 1 }) == nil {
                    sum.value.withLock { $0 += 1 }
                }
            }
        }
        #expect(sum.value.withLock { $0 } == Self.threadCount * Self.roundCount)
    }

    @Test func aTakenLockIsNotAvailable() {
        let sum = SharedSum()
        let found = sum.value.withLock { _ in
            let seen = SharedSum()
            let thread = NamedThread("lock-test")
            thread.startOrTrap {
                let isFree = sum.value.withLockIfAvailable { _ in true } ?? false
                seen.value.withLock { $0 = isFree ? 1 : 2 }
            }
            thread.join()
            return seen.value.withLock { $0 }
        }
        #expect(found == 2)
    }

    /// The lock keeps threads apart also where it guards something beside its own value.
    @Test func oneThreadAtATimeRunsItsBody() {
        let lock = SharedLock()
        let counter = Counter()
        onThreads {
            for round in 0..<Self.roundCount {
                lock.lock.withLock { _ in
                    let value = counter.value
                    // Without the lock, another thread's addition here would be lost.
                    if round.isMultiple(of: 64) { sched_yield() }
                    counter.value = value + 1
                }
            }
        }
        #expect(counter.value == Self.threadCount * Self.roundCount)
    }

    @Test func anErrorReleasesTheLock() {
        struct Failure: Error {}
        let lock = Lock(1)
        #expect(throws: Failure.self) {
            try lock.withLock { (value) throws(Failure) in
                value = 2
                throw Failure()
            }
        }
        #expect(lock.withLockIfAvailable { $0 } == 2)
    }

    private final class SharedSum: Sendable {
        let value = Lock(0)
    }

    private final class SharedLock: Sendable {
        let lock = Lock(())
    }
}

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
