import FeedConcurrency

/// A named thread that runs one event loop from its start until the loop is stopped.
package final class EventLoopThread: Sendable {
    private struct State: Sendable {
        var isFinished = false
        var whenFinished: [@Sendable () -> Void] = []
    }

    /// How other threads reach the loop.
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

    /// Asks the loop to close everything and return.
    package func stop() {
        _ = mailbox.post { $0.stop() }
    }

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
