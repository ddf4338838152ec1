internal import FeedConcurrency

/// A table in parts with a lock each, so that threads rarely wait for each other.
struct Shards<Key: Hashable & Sendable, Part: Sendable>: ~Copyable, Sendable {
    /// The number of parts: many more than threads, and few enough to look into each once a minute.
    static var count: Int { 64 }

    private let parts: InlineArray<64, Lock<Part>>

    /// A table of empty parts.
    init(of empty: Part) {
        parts = InlineArray { _ in Lock(empty) }
    }

    /// Calls the body with the part that a key is in, under its lock.
    func withPart<Result, Failure: Error>(
        of key: Key,
        _ body: (inout sending Part) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        // The seed of hashes is the process's own: nobody can aim at one part.
        let number = Int(UInt(bitPattern: key.hashValue) % UInt(Self.count))
        return try parts[number].withLock(body)
    }

    /// Calls the body with a part, under its lock.
    func withPart<Result>(
        number: Int,
        _ body: (inout sending Part) -> sending Result
    ) -> sending Result {
        parts[number % Self.count].withLock(body)
    }

    /// Calls the body with a copy of one part after another, under no lock.
    func visit(_ body: (Part) -> Void) {
        for number in 0..<Self.count { body(withPart(number: number) { $0 }) }
    }
}
