internal import Glibc
internal import Synchronization

/// The signals that end programs, caught while the terminal has settings that must not stay.
enum EndSignals {
    private static let numbers = [SIGINT, SIGTERM, SIGHUP]
    // A signal handler can do little more than to set it.
    private static let caught = Atomic<Int32>(0)

    /// Catches them from here on.
    static func hold() {
        // Made here, as a handler must not make it.
        caught.store(0, ordering: .relaxed)
        for number in numbers {
            signal(number) { number in EndSignals.caught.store(number, ordering: .relaxed) }
        }
    }

    /// Lets them end the process again, as one does now that was caught and not taken.
    static func release() {
        for number in numbers { signal(number, SIG_DFL) }
        if let number = take() { end(by: number) }
    }

    /// Ends the process by a signal, as if it had not been caught.
    static func end(by number: Int32) -> Never {
        signal(number, SIG_DFL)
        // Not `raise`: threads of Swift's pool take no signals.
        kill(getpid(), number)
        while true { pause() }
    }

    /// Whether one was caught since the last call.
    static func take() -> Int32? {
        let number = caught.exchange(0, ordering: .relaxed)
        return number == 0 ? nil : number
    }
}
