import CSodium

/// The hash of passwords: argon2id with 19 MiB of memory and two passes, as OWASP recommends.
///
/// A hash is a text that names its parameters and its random salt, so hashes with others stay
/// verifiable. It takes tens of milliseconds: ``PasswordHasher`` computes it on threads of its own.
enum PasswordHash {
    static let passCount: UInt64 = 2
    static let memoryByteCount = 19 << 20

    /// A well-formed hash of no password, verified in place of an account's if there is none.
    static let decoy =
        "$argon2id$v=19$m=19456,t=2,p=1$" + String(repeating: "A", count: 22) + "$"
        + String(repeating: "A", count: 43)

    /// Hashes a password with a new salt; nil if there is no memory.
    static func make(
        of password: Secret,
        passCount: UInt64 = passCount,
        memoryByteCount: Int = memoryByteCount
    ) -> String? {
        Sodium.prepare()
        var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
        let code = unsafe password.withCharacters { characters, count in
            unsafe crypto_pwhash_str_alg(
                &text,
                characters,
                count,
                passCount,
                memoryByteCount,
                crypto_pwhash_ALG_ARGON2ID13
            )
        }
        guard code == 0 else { return nil }
        return String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
    }

    /// Whether a hash is of this password; also false if there is no memory.
    static func matches(_ hash: String, _ password: Secret) -> Bool {
        Sodium.prepare()
        return unsafe password.withCharacters { characters, count in
            unsafe crypto_pwhash_str_verify(hash, characters, count) == 0
        }
    }
}

/// The bytes of a password, in memory of their own that is overwritten before it is freed.
///
/// A secret has no description, so that no log line shows it. It never changes, so threads may share
/// it.
@safe
package final class Secret: @unchecked Sendable {
    private let bytes: UnsafeMutablePointer<UInt8>
    private let byteCount: Int

    /// Copies the bytes; the caller overwrites the original.
    package init(copying text: some Collection<UInt8>) {
        byteCount = text.count
        unsafe bytes = .allocate(capacity: max(1, byteCount))
        for (index, byte) in text.enumerated() { unsafe (bytes + index).initialize(to: byte) }
    }

    deinit {
        unsafe sodium_memzero(bytes, byteCount)
        unsafe bytes.deallocate()
    }

    /// Calls the body with the address and the number of the bytes, as C takes texts.
    fileprivate func withCharacters<Result>(
        _ body: (UnsafePointer<CChar>, UInt64) -> Result
    ) -> Result {
        unsafe bytes.withMemoryRebound(to: CChar.self, capacity: max(1, byteCount)) {
            unsafe body($0, UInt64(byteCount))
        }
    }
}

enum Sodium {
    /// Prepares the library, once; threads may call it at the same time.
    static func prepare() {
        precondition(isPrepared, "libsodium cannot be prepared: the system has no random numbers.")
    }

    private static let isPrepared = sodium_init() >= 0
}
