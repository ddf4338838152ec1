internal import FeedAccounts
internal import FeedConcurrency
internal import FeedTLS
internal import Synchronization

/// The keys and certificates that callers show, which an operator may replace while the service runs.
///
/// A connection keeps the number of the one that it has shown. It compares one number in each loop
/// iteration to see whether the keys were replaced, and looks its key up again only then.
package final class ServiceKeys: Sendable {
    /// The key that a caller has shown.
    struct Shown: Equatable, BitwiseCopyable {
        /// The number of the key; a key keeps it as long as it is valid.
        let number: UInt32
        /// The keys that it was found among.
        let generation: UInt32
        /// What it makes its caller.
        let role: KeyRole
    }

    private struct State {
        var keys: [(key: ServiceKey, number: UInt32)] = []
        var lastNumber: UInt32 = 0
        var generation: UInt32 = 0

        func shown(_ key: ServiceKey, _ number: UInt32) -> Shown {
            Shown(number: number, generation: generation, role: key.role)
        }

        mutating func replace(with keys: [ServiceKey]) {
            self.keys = keys.map { key in
                if let old = self.keys.first(where: { $0.key.proof == key.proof }) {
                    return (key, old.number)
                }
                lastNumber += 1
                return (key, lastNumber)
            }
            generation += 1
        }
    }

    private let state: Lock<State>
    private let newestGeneration = Atomic<UInt32>(1)

    /// The keys of a start.
    package init(_ keys: [ServiceKey]) {
        var state = State()
        state.replace(with: keys)
        self.state = Lock(state)
    }

    /// Replaces all keys; a key that is not among the new ones is void from now on.
    package func replace(with keys: [ServiceKey]) {
        state.withLock { state in
            state.replace(with: keys)
            newestGeneration.store(state.generation, ordering: .releasing)
        }
    }

    /// The key with this hash and its name; nil where none has it.
    ///
    /// All keys are compared, and each takes the same time wherever it differs.
    func find(_ hash: TokenHash) -> (shown: Shown, name: String)? {
        state.withLock { state in
            var found: (Shown, String)?
            for (key, number) in state.keys where key.proof == .key(hash) {
                found = (state.shown(key, number), key.name)
            }
            return found
        }
    }

    /// The first line that names one of a certificate's identities; nil where none does.
    func find(_ identities: [TLSIdentity]) -> (shown: Shown, key: ServiceKey)? {
        guard !identities.isEmpty else { return nil }
        return state.withLock { state in
            for (key, number) in state.keys {
                guard case .certificate(let identity) = key.proof, identities.contains(identity)
                else { continue }
                return (state.shown(key, number), key)
            }
            return nil
        }
    }

    /// The name of a valid key; nil where the key is void.
    func name(of number: UInt32) -> String? {
        state.withLock { $0.keys.first { $0.number == number }?.key.name }
    }

    /// The shown key as it is now; nil where it is void.
    @inline(__always)
    func renewed(_ shown: Shown) -> Shown? {
        if shown.generation == newestGeneration.load(ordering: .acquiring) { return shown }
        return lookUp(shown.number)
    }

    @inline(never)
    private func lookUp(_ number: UInt32) -> Shown? {
        state.withLock { state in
            state.keys.first { $0.number == number }.map(state.shown)
        }
    }
}
