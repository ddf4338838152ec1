internal import FeedConcurrency
internal import Glibc
internal import Synchronization

/// What a person asks of a live list.
enum Key: Sendable {
    /// The order of now.
    case refresh
    /// The terminal has another size.
    case redraw
    /// The end: a key, or a signal that ends programs.
    case quit
}

/// The keys of the terminal on standard input, and the signals that stand for keys.
final class Keys: Sendable {
    /// The keys in their order, until the end of the input.
    let sequence: AsyncStream<Key>

    private let keys: AsyncStream<Key>.Continuation
    private let thread = NamedThread("keys")
    private let isStopped = Atomic<Bool>(false)

    /// A signal handler can do little more than to set these.
    private static let hasToQuit = Atomic<Bool>(false)
    private static let hasToRedraw = Atomic<Bool>(false)

    /// Nothing is listened to yet.
    init() {
        (sequence, keys) = AsyncStream<Key>.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// Listens from here on; to be called once.
    func start() throws(ThreadStartError) {
        // Made here, as a handler must not make them.
        Self.hasToQuit.store(false, ordering: .relaxed)
        Self.hasToRedraw.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { _ in Keys.hasToQuit.store(true, ordering: .relaxed) }
        }
        signal(SIGWINCH) { _ in Keys.hasToRedraw.store(true, ordering: .relaxed) }
        try thread.start { [self] in listen() }
    }

    /// Listens no more, from a tenth of a second later on.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    private func listen() {
        while !isStopped.load(ordering: .relaxed) {
            if Self.hasToQuit.exchange(false, ordering: .relaxed) { keys.yield(.quit) }
            if Self.hasToRedraw.exchange(false, ordering: .relaxed) { keys.yield(.redraw) }
            guard let bytes = Terminal.input(within: .milliseconds(100)) else {
                return keys.finish()
            }
            for key in bytes.compactMap(Key.init) { keys.yield(key) }
        }
    }
}

extension Key {
    /// The meaning of a byte; nil where it has none.
    fileprivate init?(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "r"), UInt8(ascii: "R"): self = .refresh
        // The last two are Ctrl-C and Ctrl-D.
        case UInt8(ascii: "q"), UInt8(ascii: "Q"), 3, 4: self = .quit
        default: return nil
        }
    }
}
