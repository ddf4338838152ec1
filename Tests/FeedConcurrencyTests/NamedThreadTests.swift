import FeedConcurrency
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
        let thread = NamedThread("nice", niceness: 19)
        thread.startOrTrap {
            let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
            seen.number.withLock { $0 = own }
        }
        thread.join()
        #expect(seen.number.withLock { $0 } == 19)
        #expect(niceness() == before)
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

    @Test func aWakeUpBeforeTheWaitIsKept() {
        let thread = NamedThread("woken")
        thread.wake()
        thread.startOrTrap { [weak thread] in thread?.waitForWakeUp(upTo: .seconds(Int64.max)) }
        thread.join()
    }
}
