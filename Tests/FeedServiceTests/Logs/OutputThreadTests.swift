import FeedConcurrency
import FeedService
import FeedTestSupport
import Testing

/// A buffer before a receiver that takes nothing for a while.
@Suite(.timeLimit(.minutes(1)))
struct OutputThreadTests {
    /// What a receiver got, which takes the next texts when the test lets it.
    private final class Receiver: Sendable {
        let got = Locked<[String]>([])
        private let arrived = Semaphore()
        private let permits = Semaphore()

        /// A buffer of ten bytes before the receiver.
        func output() -> OutputThread {
            OutputThread("test-output", byteLimit: 10) { [self] texts, leftOutCount in
                arrived.signal()
                permits.wait()
                got.withLock { got in
                    got += texts
                    if leftOutCount > 0 { got.append("(\(leftOutCount))") }
                }
            }
        }

        /// Waits until the receiver has texts that it has not taken yet.
        func awaitTexts() { arrived.wait() }

        /// Lets the receiver take texts so often.
        func take(_ count: Int) { for _ in 0..<count { permits.signal() } }
    }

    @Test("what does not fit is counted, and said where it is missing")
    func saysWhatIsMissing() {
        let receiver = Receiver()
        let output = receiver.output()
        output.write("first")
        receiver.awaitTexts()
        // Ten bytes fit while the receiver has the first text, and nothing after one that did not.
        #expect(output.append("12345"))
        #expect(output.append("678"))
        #expect(!output.append("900"))
        #expect(!output.append("x"))
        #expect(output.leftOutCount == 2)
        receiver.take(1)
        receiver.awaitTexts()
        // The buffer is empty again.
        #expect(output.append("1234567890"))
        receiver.take(2)
        #expect(output.flush(upTo: .seconds(30)))
        let expected = ["first", "12345", "678", "(2)", "1234567890"]
        #expect(receiver.got.withLock { $0 } == expected)
        #expect(output.leftOutCount == 2)
    }

    @Test("how long the receiver has been taking what it was passed")
    func saysHowLongTextsWait() {
        let receiver = Receiver()
        let output = receiver.output()
        #expect(output.waitingTime(at: .now) == .zero)
        output.write("first")
        receiver.awaitTexts()
        let soon = MonotonicInstant.now.advanced(by: .seconds(3))
        #expect(output.waitingTime(at: soon) >= .seconds(3))
        receiver.take(1)
        #expect(output.flush(upTo: .seconds(30)))
        #expect(output.waitingTime(at: soon) == .zero)
    }

    @Test("a flush ends at its limit where the receiver takes nothing")
    func flushesForSomeTimeOnly() {
        let receiver = Receiver()
        let output = receiver.output()
        #expect(output.flush(upTo: .zero))
        output.write("first")
        receiver.awaitTexts()
        #expect(!output.flush(upTo: .milliseconds(1)))
        receiver.take(1)
        #expect(output.flush(upTo: .seconds(30)))
        #expect(receiver.got.withLock { $0 } == ["first"])
    }

    @Test("texts of many threads arrive whole, or are counted")
    func losesNoTextUncounted() async {
        let got = Locked(0)
        let output = OutputThread("test-output", byteLimit: 64) { texts, leftOutCount in
            got.withLock { $0 += texts.count + leftOutCount }
        }
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<1_000 { output.write("12345678") } }
            }
        }
        #expect(output.flush(upTo: .seconds(30)))
        #expect(got.withLock { $0 } == 4_000)
    }
}
