import CThread
import FeedConcurrency
import FeedTestSupport
import Foundation
import Glibc
import Testing

/// A thread has its name and its niceness, can be woken, and is over after a join.
@Suite struct NamedThreadTests {
    private final class Seen: Sendable {
        let text = Lock("")
        let number = Lock(Int32(0))
    }

    private static func ownName() -> String {
        let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        return (name ?? "").trimmingCharacters(in: .newlines)
    }

    /// Only a thread of `offload` has this size: work that blocks must not hold one of Swift's pool.
    @Test func blockingWorkOfATestHasAThreadOfItsOwn() async throws {
        #expect(try await offload { Thread.current.stackSize } == 1 << 20)
    }

    @Test(arguments: [("feed-test", "feed-test"), ("a-name-that-is-too-long", "a-name-that-is-")])
    func theSystemShowsTheName(_ name: String, _ shown: String) {
        let seen = Seen()
        let thread = NamedThread(name)
        thread.startOrTrap {
            let own = Self.ownName()
            seen.text.withLock { $0 = own }
        }
        thread.join()
        #expect(seen.text.withLock { $0 } == shown)
        #expect(thread.name == shown)
    }

    @Test func theNicenessIsTheThreadsAlone() {
        func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
        let seen = Seen()
        let before = niceness()
        let thread = NamedThread("nice", priority: .nice(19))
        thread.startOrTrap {
            let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
            seen.number.withLock { $0 = own }
        }
        thread.join()
        #expect(seen.number.withLock { $0 } == 19)
        #expect(niceness() == before)
    }

    @Test func aNiceThreadComputesForAShortSliceAndNoOtherDoes() {
        func slice(_ thread: NamedThread) -> UInt64 {
            let seen = Lock(UInt64(0))
            thread.startOrTrap { seen.withLock { $0 = cthread_slice() } }
            thread.join()
            return seen.withLock { $0 }
        }
        let usual = slice(NamedThread("usual"))
        // Linux before 6.12 has no slices to choose.
        guard usual > 0 else { return }
        #expect(slice(NamedThread("nice", priority: .nice(19))) == 100_000)
        #expect(usual > 100_000)
    }

    @Test func aThreadHasThePolicyOfItsPriority() {
        func policy(_ thread: NamedThread) -> UInt32 {
            let seen = Lock(UInt32.max)
            thread.startOrTrap { seen.withLock { $0 = cthread_policy_in_use() } }
            thread.join()
            return seen.withLock { $0 }
        }
        let own = cthread_policy_in_use()
        #expect(policy(NamedThread("usual")) == own)
        #expect(policy(NamedThread("batch", priority: .batch)) == CTHREAD_BATCH.rawValue)
        #expect(policy(NamedThread("idle", priority: .idle)) == CTHREAD_IDLE.rawValue)
        #expect(cthread_policy_in_use() == own)
    }

    @Test func aJoinOfAThreadThatIsNotStartedReturns() {
        NamedThread("never").join()
    }

    @Test func eachJoinWaitsForTheEnd() {
        let (seen, go) = (Seen(), Semaphore())
        let thread = NamedThread("joined")
        thread.startOrTrap {
            go.wait()
            seen.number.withLock { $0 = 1 }
        }
        let joiners = (0..<3).map { NamedThread("joiner-\($0)") }
        for joiner in joiners {
            joiner.startOrTrap {
                thread.join()
                seen.number.withLock { if $0 > 0 { $0 += 1 } }
            }
        }
        go.signal()
        for joiner in joiners { joiner.join() }
        #expect(seen.number.withLock { $0 } == 4)
    }

    @Test func theBodyIsReleasedWhenAJoinReturns() {
        final class Token: Sendable {}
        weak var token: Token?
        let thread = NamedThread("released")
        do {
            let held = Token()
            token = held
            thread.startOrTrap { withExtendedLifetime(held) {} }
        }
        thread.join()
        #expect(token == nil)
    }

    /// In a process of its own, as the size of new stacks is the process's.
    @Test func aRefusedThreadIsAnErrorInWords() async {
        await #expect(processExitsWith: .success) {
            let thread = NamedThread("refused")
            let error = #expect(throws: ThreadStartError.self) {
                try withImpossibleStacks { try thread.start {} }
            }
            #expect(error == ThreadStartError(name: "refused", code: EAGAIN))
            let words =
                "The system does not start the thread refused: there are too many threads, or no "
                + "memory is left for another."
            #expect(error?.description == words)
            // Nothing waits for the thread that is not there, and it may be started later.
            thread.join()
            let ran = Semaphore()
            try thread.start { ran.signal() }
            thread.join()
            #expect(ran.wait(upTo: .zero))
        }
    }

    @Test func aWakeUpBeforeTheWaitIsKept() {
        let thread = NamedThread("woken")
        thread.wake()
        thread.startOrTrap { [weak thread] in thread?.waitForWakeUp(upTo: .seconds(Int64.max)) }
        thread.join()
    }
}

/// Runs the body while new threads get stacks that are larger than all addresses of a process, so that
/// the system refuses every thread.
private func withImpossibleStacks(_ body: () throws -> Void) throws {
    typealias Setter = @convention(c) (UnsafePointer<pthread_attr_t>) -> Int32
    // A function of GNU's, which the Glibc module does not have.
    let symbol = try unsafe #require(dlsym(nil, "pthread_setattr_default_np"))
    let setDefault = unsafe unsafeBitCast(symbol, to: Setter.self)
    func setStackSize(_ byteCount: Int) {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setstacksize(&attributes, byteCount)
        let code = unsafe setDefault(&attributes)
        #expect(code == 0)
        unsafe pthread_attr_destroy(&attributes)
    }
    setStackSize(1 << 50)
    defer { setStackSize(8 << 20) }
    try body()
}

extension NamedThread {
    /// Starts the thread, and ends the tests where the system refuses.
    func startOrTrap(_ body: @escaping @Sendable () -> Void) {
        do { try start(body) } catch { fatalError(error.description) }
    }
}
