internal import FeedConcurrency

/// A table in parts with a lock each, so that threads rarely wait for each other.
struct Shards<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
    /// The number of parts: many more than threads, and few enough to look through one a second.
    static var count: Int { 64 }

    private let parts = InlineArray<64, Lock<[Key: Value]>> { _ in Lock([:]) }

    /// Calls the body with the part that a key is in, under its lock.
    func withPart<Result, Failure: Error>(
        of key: Key,
        _ body: (inout sending [Key: Value]) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        // The seed of hashes is the process's own: nobody can aim at one part.
        let number = Int(UInt(bitPattern: key.hashValue) % UInt(Self.count))
        return try parts[number].withLock(body)
    }

    /// Calls the body with a part, under its lock.
    func withPart<Result>(
        number: Int,
        _ body: (inout sending [Key: Value]) -> sending Result
    ) -> sending Result {
        parts[number % Self.count].withLock(body)
    }

    /// The values of one part after another.
    func visit(_ body: (Value) -> Void) {
        for number in 0..<Self.count {
            let values = withPart(number: number) { Array($0.values) }
            for value in values { body(value) }
        }
    }
}
