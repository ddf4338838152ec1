internal import FeedConcurrency
internal import Glibc
internal import Synchronization

/// What a person types at a terminal that gives each key at once.
enum Key: Sendable, Equatable {
    /// A letter, a digit or another character of ASCII.
    case character(Character)
    /// The terminal has another size.
    case redraw
    /// The end: Ctrl-C, Ctrl-D, or a signal that ends programs.
    case quit
}

/// The keys of the terminal on standard input, and the signals that stand for keys.
final class Keys: Sendable {
    /// How long a program has for its end after Ctrl-C or a signal, for nobody may read the terminal.
    private static let endLimit = Duration.seconds(5)

    private let sequence: AsyncStream<Key>
    private let keys: AsyncStream<Key>.Continuation
    private let thread = NamedThread("keys")
    private let isStopped = Atomic<Bool>(false)

    /// A signal handler can do little more than to set it.
    private static let hasToRedraw = Atomic<Bool>(false)

    private init() {
        (sequence, keys) = AsyncStream<Key>.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// Runs the body with the keys in their order, until the end of the input.
    ///
    /// The process ends if the body does not within five seconds of a quit: it writes to a terminal that
    /// nobody reads.
    static func run(_ body: (AsyncStream<Key>) async throws -> Void) async throws {
        let keys = Keys()
        EndSignals.hold()
        hasToRedraw.store(false, ordering: .relaxed)
        signal(SIGWINCH) { _ in Keys.hasToRedraw.store(true, ordering: .relaxed) }
        try keys.thread.start { keys.listen() }
        // The thread listens no more from a tenth of a second later on.
        defer { keys.isStopped.store(true, ordering: .relaxed) }
        try await Terminal.withKeys { try await body(keys.sequence) }
    }

    private func listen() {
        var end: ContinuousClock.Instant?
        while !isStopped.load(ordering: .relaxed) {
            if let end, ContinuousClock.now > end { Terminal.abandon() }
            if EndSignals.take() != nil { send(.quit, &end) }
            if Self.hasToRedraw.exchange(false, ordering: .relaxed) { keys.yield(.redraw) }
            guard let bytes = Terminal.input(within: .milliseconds(100)) else {
                return keys.finish()
            }
            for byte in Self.withoutSequences(bytes) { send(Key(byte), &end) }
        }
    }

    /// The bytes without the sequences of arrows and other keys that have no meaning, as `ESC [ B`.
    private static func withoutSequences(_ bytes: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte != 0x1B {
                kept.append(byte)
            } else if rest.popFirst() != nil {
                rest = rest.drop { $0 < 0x40 }.dropFirst()
            }
        }
        return kept
    }

    private func send(_ key: Key, _ end: inout ContinuousClock.Instant?) {
        if key == .quit, end == nil { end = .now + Self.endLimit }
        keys.yield(key)
    }
}

extension Key {
    fileprivate init(_ byte: UInt8) {
        // Ctrl-C and Ctrl-D.
        self = byte == 3 || byte == 4 ? .quit : .character(Character(UnicodeScalar(byte)))
    }
}

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
