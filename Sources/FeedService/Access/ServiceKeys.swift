package import FeedAccounts
internal import FeedConcurrency
package import FeedTLS
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

/// What a program shows to have a role: a key, or a certificate with a name.
package struct ServiceKey: Sendable, Equatable {
    package enum Proof: Sendable, Equatable {
        /// The BLAKE2b hash of a key, which Hello shows.
        case key(TokenHash)
        /// A name in the certificate of a TLS connection.
        case certificate(TLSIdentity)
    }

    /// The length of a key in bytes, which are random.
    package static let byteCount = 32
    package static let maximumNameLength = 64

    package let name: String
    package let proof: Proof
    package let role: KeyRole

    /// A key with a name that ``isName(_:)`` takes.
    package init(name: String, proof: Proof, role: KeyRole) {
        precondition(Self.isName(name), "The name of a key has no other characters.")
        self.name = name
        self.proof = proof
        self.role = role
    }

    /// Whether a text can be the name of a key: a name cannot forge a line of the log.
    package static func isName(_ text: some StringProtocol) -> Bool {
        (1...maximumNameLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

/// A new key: its digits for the program, and its line for the service.
package struct NewServiceKey {
    package let digits: String
    /// The key as the service's file has it.
    package let key: ServiceKey

    package init(name: String, role: KeyRole = .service) {
        let secret = SessionToken()
        digits = Hexadecimal.text(secret.bytes)
        key = ServiceKey(name: name, proof: .key(secret.hash), role: role)
    }
}

/// Bytes as hexadecimal digits, two for each byte.
enum Hexadecimal {
    static func text(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The bytes of some digits; nil unless all are digits, two for each byte.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
