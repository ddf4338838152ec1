import CLibUV
import Glibc

/// A named thread that runs one event loop from its start until the loop is stopped.
package final class EventLoopThread: Sendable {
    private struct State: Sendable {
        var isFinished = false
        var whenFinished: [@Sendable () -> Void] = []
    }

    /// The values that are transferred to the new thread.
    private final class Start {
        let loop: EventLoop
        let thread: EventLoopThread
        let body: (EventLoop) -> Void

        init(_ loop: EventLoop, _ thread: EventLoopThread, _ body: @escaping (EventLoop) -> Void) {
            self.loop = loop
            self.thread = thread
            self.body = body
        }
    }

    /// How other threads reach the loop.
    package let mailbox: LoopMailbox

    /// The name that the system shows, at most 15 bytes of it.
    package let name: String

    private let state = UVMutex(State())

    /// Nil once the thread was joined.
    private let identifier = UVMutex<uv_thread_t?>(nil)

    /// Starts a thread that calls `start` on its loop and then runs it.
    package init(
        name: String,
        configuration: TransportConfiguration,
        budget: BufferBudget,
        start: @escaping @Sendable (EventLoop) -> Void
    ) throws(TransportError) {
        let loop = try EventLoop(configuration: configuration, budget: budget)
        mailbox = loop.mailbox
        self.name = String(name.prefix(15))
        let transferred = unsafe Unmanaged.passRetained(Start(loop, self, start))
        let code = identifier.withLock { identifier in
            var created: uv_thread_t = 0
            let code = unsafe uv_thread_create(
                &created,
                { unsafe EventLoopThread.main($0) },
                transferred.toOpaque()
            )
            if code == 0 { identifier = created }
            return code
        }
        do {
            try uvResult(code, .other("Starting a thread"))
        } catch {
            unsafe transferred.release()
            loop.stop()
            loop.run()
            throw error
        }
    }

    deinit {
        // The thread is not joined; its memory is freed when it ends.
        _ = identifier.withLock { $0.map { pthread_detach($0) } }
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
    package func join() {
        // The first caller waits with the lock held, and the others for the lock.
        identifier.withLock { identifier in
            guard var running = identifier else { return }
            let code = unsafe uv_thread_join(&running)
            precondition(code == 0, "A thread waited for its own end.")
            identifier = nil
        }
    }

    /// Calls `body` when the loop is closed: on the thread as it ends, or at once if it has.
    package func whenFinished(_ body: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            if !state.isFinished { state.whenFinished.append(body) }
            return state.isFinished
        }
        if isFinished { body() }
    }

    private static func main(_ argument: UnsafeMutableRawPointer?) {
        guard let argument = unsafe argument else { return }
        let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        unsafe clibuv_name_thread(start.thread.name)
        start.body(start.loop)
        start.loop.run()
        start.thread.finish()
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
