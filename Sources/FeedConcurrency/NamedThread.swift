internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#else
internal import CThread
internal import Glibc
#endif

/// A thread with a name, which the system shows, for instance in `top -H`.
///
/// It is started once. Other threads may wake it and wait for its end.
package final class NamedThread: Sendable {
    /// The longest name that the system takes, in bytes.
    private static let longestName = 15

    /// The shortest slice that Linux gives, in nanoseconds.
    private static let shortestSlice: UInt64 = 100_000

    /// How a thread shares its processor with others; on Linux alone.
    package enum Priority: Sendable {
        /// As the system has it.
        case usual

        /// A thread that wakes does not interrupt another, and waits until the other sleeps or has used
        /// up its slice (`SCHED_BATCH`, sched(7)). For work of which more at once is cheaper.
        case batch

        /// The thread stands back behind others by a niceness from 1 to 19, and computes for 0.1 ms at
        /// most before another takes its processor.
        ///
        /// With niceness alone a thread that wakes may wait some milliseconds, as Linux since 6.6 lets a
        /// thread end its slice, and only since 6.12 lets it choose a short one.
        case nice(Int32)

        /// Each other thread of the program that wakes takes the thread's processor at once, also a batch
        /// thread, which would let a nice one go on (`SCHED_IDLE`, sched(7)).
        ///
        /// Where all processors are busy, the thread gets about 0.3 % of one, also while it holds a lock:
        /// let no other wait for it. Its niceness is 19 for those who look at it, without an effect here.
        case idle
    }

    private enum Life {
        case notStarted
        case running(pthread_t)
        case joined
    }

    /// What the new thread gets.
    private final class Start: Sendable {
        let name: String
        let priority: Priority
        let body: @Sendable () -> Void

        init(_ name: String, _ priority: Priority, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.priority = priority
            self.body = body
        }
    }

    /// The name, at most 15 bytes of ASCII.
    package let name: String
    private let priority: Priority
    private let life = Lock(Life.notStarted)
    private let wakeUps = Semaphore()

    /// A thread that is not started yet.
    ///
    /// - Parameters:
    ///   - name: The system shows the first 15 characters.
    ///   - priority: How it shares its processor; without effect where the system refuses.
    package init(_ name: String, priority: Priority = .usual) {
        self.name = String(name.prefix(Self.longestName))
        self.priority = priority
    }

    deinit {
        // No thread waits for this one any more; the system frees its memory when it ends.
        if case .running(let thread) = life.withLock({ $0 }) { pthread_detach(thread) }
    }

    /// Starts the thread, which calls the body and then ends; to be called once.
    package func start(_ body: @escaping @Sendable () -> Void) throws(ThreadStartError) {
        let start = unsafe Unmanaged.passRetained(Start(name, priority, body))
        let code = life.withLock { life in
            guard case .notStarted = life else { preconditionFailure("A thread starts once.") }
            #if canImport(Darwin)
            var thread: pthread_t!
            #else
            var thread = pthread_t()
            #endif
            let code = unsafe pthread_create(
                &thread,
                nil,
                { argument in
                    unsafe NamedThread.main(argument)
                    return nil
                },
                start.toOpaque()
            )
            if code == 0 { life = .running(thread) }
            return code
        }
        guard code != 0 else { return }
        unsafe start.release()
        throw ThreadStartError(name: name, code: code)
    }

    /// Waits until the thread has ended and has released all that it used; returns at once for a
    /// thread that was not started.
    ///
    /// Any number of callers may wait, at any time. Blocks: do not call it from Swift's tasks, which
    /// share few threads. The thread itself must not call it.
    package func join() {
        // The first caller waits with the lock held, and the others for the lock.
        life.withLock { life in
            guard case .running(let thread) = life else { return }
            let code = pthread_join(thread, nil)
            precondition(code == 0, "A thread waited for its own end.")
            life = .joined
        }
    }

    /// Wakes the thread from ``waitForWakeUp(upTo:)``, or from its next call of it.
    package func wake() { wakeUps.signal() }

    /// Forgets the wake-ups that no wait has taken; for the thread itself, before it looks at all that
    /// they may tell of.
    package func forgetWakeUps() { wakeUps.reset() }

    /// Waits for a ``wake()``, for some time at most; for the thread itself.
    package func waitForWakeUp(upTo longest: Duration) { _ = wakeUps.wait(upTo: longest) }

    private static func main(_ argument: UnsafeMutableRawPointer?) {
        guard let argument = unsafe argument else { return }
        let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        // The thread names itself: the system shows no name that is given before the start.
        #if canImport(Darwin)
        _ = unsafe pthread_setname_np(start.name)
        #else
        unsafe cthread_set_name(start.name)
        share(by: start.priority)
        #endif
        start.body()
    }

    #if os(Linux)
    private static func share(by priority: Priority) {
        // Refused where the process itself stands back further.
        switch priority {
        case .usual: break
        case .batch: _ = cthread_set_scheduling(CTHREAD_BATCH, 0, 0)
        case .nice(let niceness):
            _ = cthread_set_scheduling(CTHREAD_OTHER, niceness, shortestSlice)
        case .idle:
            // Linux takes no niceness with this policy, and keeps the one from before.
            _ = cthread_set_scheduling(CTHREAD_OTHER, 19, 0)
            _ = cthread_set_scheduling(CTHREAD_IDLE, 0, 0)
        }
    }
    #endif
}

/// The system refuses to start a thread.
package struct ThreadStartError: Error, Equatable, CustomStringConvertible {
    package let name: String
    /// The number of the system's error, as in `errno`.
    package let code: Int32

    /// The refusal of a thread by the system's error.
    package init(name: String, code: Int32) {
        self.name = name
        self.code = code
    }

    package var description: String {
        let reason =
            code == EAGAIN
            ? "there are too many threads, or no memory is left for another" : "error \(code)"
        return "The system does not start the thread \(name): \(reason)."
    }
}

/// The end of something, such as a thread's loop, of which others want to be told.
package final class Finish: Sendable {
    private struct State: Sendable {
        var hasCome = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())

    package init() {}

    /// Calls `body` when the end comes: on the thread that tells of it, or at once if it has come.
    package func whenReached(_ body: @escaping @Sendable () -> Void) {
        let hasCome = state.withLock { state in
            if !state.hasCome { state.waiting.append(body) }
            return state.hasCome
        }
        if hasCome { body() }
    }

    /// The end has come.
    package func reach() {
        let waiting = state.withLock { state in
            state.hasCome = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for body in waiting { body() }
    }
}

/// When a thread has gone on last: it notes that, and any thread reads for how long it has not.
package final class HeartBeat: Sendable {
    /// In nanoseconds of the monotonic clock; 0 where nothing is under way.
    private let last = Atomic<UInt64>(0)

    /// Nothing is under way.
    package init() {}

    /// It goes on, to a call that may not return.
    package func beat() { last.store(SystemClock.monotonicNanoseconds(), ordering: .relaxed) }

    /// Nothing is under way any more.
    package func end() { last.store(0, ordering: .relaxed) }

    /// How long ago the last beat was; nil where nothing is under way.
    package var standingTime: Duration? {
        let last = last.load(ordering: .relaxed)
        guard last != 0 else { return nil }
        let now = SystemClock.monotonicNanoseconds()
        return now < last ? .zero : .nanoseconds(Int64(clamping: now - last))
    }
}

/// A value that one thread gives to another.
///
/// The giver does not use the value again, which the compiler cannot check for a value that a closure
/// carries to a thread. `Sendable` without the compiler's proof for that reason alone.
package struct Transferred<Value>: @unchecked Sendable {
    /// The value, for the thread that it was given to.
    package let value: Value

    package init(_ value: Value) {
        self.value = value
    }
}
