import FeedConcurrency
import Synchronization

/// A named thread that runs one event loop from its start until the loop is stopped.
package final class EventLoopThread: Sendable {
    private struct State: Sendable {
        var isFinished = false
        var whenFinished: [@Sendable () -> Void] = []
    }

    package let mailbox: LoopMailbox

    private let thread: NamedThread
    private let state = Lock(State())

    /// The name that the system shows, at most 15 bytes of it.
    package var name: String { thread.name }

    /// Starts a thread that calls `start` on its loop and then runs it.
    package init(
        name: String,
        configuration: TransportConfiguration,
        budget: BufferBudget,
        start: @escaping @Sendable (EventLoop) -> Void
    ) throws(TransportError) {
        let loop = try EventLoop(configuration: configuration, budget: budget)
        mailbox = loop.mailbox
        thread = NamedThread(name)
        let transferred = Transferred(loop)
        do {
            try thread.start { [self] in
                start(transferred.value)
                transferred.value.run()
                finish()
            }
        } catch {
            loop.stop()
            loop.run()
            throw transportError(-error.code, .other("Starting a thread"))
        }
    }

    package func stop() { _ = mailbox.post { $0.stop() } }

    /// Waits until the thread has ended.
    ///
    /// Any number of callers may wait, at any time.
    ///
    /// Blocks: do not call it from Swift's tasks, which share few threads, or from the thread
    /// itself.
    package func join() { thread.join() }

    /// Calls `body` when the loop is closed: on the thread as it ends, or at once if it has.
    package func whenFinished(_ body: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            if !state.isFinished { state.whenFinished.append(body) }
            return state.isFinished
        }
        if isFinished { body() }
    }

    private func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.whenFinished = [] }
            return state.whenFinished
        }
        for body in waiting { body() }
    }
}

/// The one way into a loop from other threads: a locked list and one wake-up.
package struct LoopMailbox: Sendable {
    package typealias Work = @Sendable (EventLoop) -> Void

    private struct State: Sendable {
        var posted: [Work] = []
        var isWakePending = false
        var drainCount: UInt64 = 0
        /// Nil once the loop takes nothing more.
        ///
        /// The waker is used under the lock only, so it is never used after that.
        var waker: UVWaker?

        /// Wakes the loop unless it is about to come; returns false if it has stopped.
        mutating func wake() -> Bool {
            guard let waker else { return false }
            if !isWakePending {
                isWakePending = true
                waker.wake()
            }
            return true
        }
    }

    private final class Storage: Sendable {
        let state: Lock<State>
        let connectionCount = Atomic<Int>(0)

        init(_ waker: UVWaker) { state = Lock(State(waker: waker)) }
    }

    private let storage: Storage

    init(_ waker: UVWaker) { storage = Storage(waker) }

    /// Runs `work` on the loop soon, after earlier posted work; returns false, and runs nothing, if
    /// the loop has stopped.
    @discardableResult
    package func post(_ work: @escaping Work) -> Bool {
        storage.state.withLock { state in
            guard state.wake() else { return false }
            state.posted.append(work)
            return true
        }
    }

    /// How often the loop has taken what was posted; it does so soon after each ``wake()``.
    package var drainCount: UInt64 { storage.state.withLock { $0.drainCount } }

    /// Wakes the loop without work, and without allocating; returns false if the loop has stopped.
    package func wake() -> Bool { storage.state.withLock { $0.wake() } }

    /// The connections that the loop has or that were transferred to it.
    package var connectionCount: Int { storage.connectionCount.load(ordering: .relaxed) }

    /// Counts a connection that was transferred to the loop (1) or closed (-1).
    func addConnection(_ change: Int) {
        storage.connectionCount.wrappingAdd(change, ordering: .relaxed)
    }

    func drain(on loop: EventLoop) {
        let batch = storage.state.withLock { state in
            state.isWakePending = false
            state.drainCount += 1
            defer { state.posted = [] }
            return state.posted
        }
        for work in batch { work(loop) }
    }

    /// Takes nothing more; work that was taken before can still be drained.
    func close() { storage.state.withLock { $0.waker = nil } }

    func isSame(as other: LoopMailbox) -> Bool { storage === other.storage }
}
