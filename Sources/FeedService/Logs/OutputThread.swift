package import FeedConcurrency
internal import Synchronization

/// Texts for a receiver that may take nothing, such as a pipe that nobody reads: a bounded buffer, and
/// a thread that waits for the receiver in place of those who write.
///
/// A text that does not fit is left out, and so is each one after it until the thread has taken the
/// buffer: the texts that are missing are in one place, where the receiver can be told of them.
package final class OutputThread: TextOutputStream, Sendable {
    /// How long the end of a process waits for its last texts.
    package static let flushTime = Duration.seconds(1)
    /// The bytes that wait at most, beside as many that the thread passes on: some 2,000 lines.
    package static let byteLimit = 256 * 1_024

    private struct Buffer {
        var texts: [String] = []
        var byteCount = 0
        /// The texts that were left out since the thread has taken the buffer.
        var leftOutCount = 0
        /// Since when the thread has been passing texts on; nil while it has none.
        var passesOnSince: MonotonicInstant?
        var hasEnded = false
        var flushes: [Semaphore] = []

        var isPassingOn: Bool { passesOnSince != nil }
        var isEmpty: Bool { texts.isEmpty && leftOutCount == 0 }
    }

    /// What the thread shares with the writers; it outlives them where the receiver takes nothing.
    private final class Shared: Sendable {
        let buffer = Lock(Buffer())
        let news = Semaphore()
    }

    private let shared = Shared()
    private let byteLimit: Int
    private let leftOut = Atomic<UInt64>(0)
    /// Passes texts on in place of the thread, where the system refuses one; nil where it runs.
    private let passOn: (@Sendable ([String], Int) -> Void)?

    /// Begins with an empty buffer.
    ///
    /// `passOn` takes texts for the receiver, and the number of those that are missing after them; it may
    /// wait.
    package init(
        _ name: String,
        byteLimit: Int = OutputThread.byteLimit,
        passOn: @escaping @Sendable (_ texts: [String], _ leftOutCount: Int) -> Void
    ) {
        self.byteLimit = byteLimit
        do throws(ThreadStartError) {
            try NamedThread(name).start { [shared] in Self.run(shared, passOn) }
            self.passOn = nil
        } catch {
            self.passOn = passOn
        }
    }

    deinit {
        shared.buffer.withLock { $0.hasEnded = true }
        shared.news.signal()
    }

    package var leftOutCount: UInt64 { leftOut.load(ordering: .relaxed) }

    /// How long the receiver has been taking the texts that it was passed; zero if it has taken all.
    package func waitingTime(at now: MonotonicInstant) -> Duration {
        shared.buffer.withLock { $0.passesOnSince }.map(now.duration(since:)) ?? .zero
    }

    /// Leaves a text to the thread, or leaves it out; never waits for the receiver.
    package func write(_ text: String) { _ = append(text) }

    /// Leaves a text to the thread; false where it is left out.
    package func append(_ text: String) -> Bool {
        if let passOn {
            passOn([text], 0)
            return true
        }
        let (isTaken, isFirst) = shared.buffer.withLock { buffer in
            let isFirst = buffer.isEmpty
            let byteCount = buffer.byteCount + text.utf8.count
            guard buffer.leftOutCount == 0, byteCount <= byteLimit else {
                buffer.leftOutCount += 1
                return (false, isFirst)
            }
            buffer.texts.append(text)
            buffer.byteCount = byteCount
            return (true, isFirst)
        }
        if !isTaken { leftOut.wrappingAdd(1, ordering: .relaxed) }
        if isFirst { shared.news.signal() }
        return isTaken
    }

    /// Waits until the receiver has taken all texts, for some time at most; false where it has not.
    @discardableResult
    package func flush(upTo longest: Duration = flushTime) -> Bool {
        let end = Semaphore()
        let isDone = shared.buffer.withLock { buffer in
            if buffer.isEmpty, !buffer.isPassingOn { return true }
            buffer.flushes.append(end)
            return false
        }
        return isDone || end.wait(upTo: longest)
    }

    private static func run(
        _ shared: Shared,
        _ passOn: @Sendable ([String], Int) -> Void
    ) {
        while true {
            shared.news.wait()
            while let (texts, leftOutCount) = take(shared) { passOn(texts, leftOutCount) }
            if shared.buffer.withLock({ $0.hasEnded }) { return }
        }
    }

    /// Takes what the buffer has; tells those who flush where it has nothing.
    private static func take(_ shared: Shared) -> ([String], Int)? {
        shared.buffer.withLock { buffer in
            guard !buffer.isEmpty else {
                buffer.passesOnSince = nil
                for flush in buffer.flushes { flush.signal() }
                buffer.flushes = []
                return nil
            }
            defer {
                buffer.texts = []
                buffer.byteCount = 0
                buffer.leftOutCount = 0
                buffer.passesOnSince = .now
            }
            return (buffer.texts, buffer.leftOutCount)
        }
    }
}
