import FeedAccounts
import FeedConcurrency
import FeedService
import FeedTestSupport

/// A weak and quick argon2id that counts its runs and can be held up.
final class CountedPasswords: Sendable {
    private let runs = Locked(0)
    private let isGated: Bool
    /// Signalled when a gated run begins.
    let begun = Semaphore()
    /// Lets one gated run go on.
    let gate = Semaphore()

    init(isGated: Bool = false) { self.isGated = isGated }

    /// The number of hashes that were begun.
    var runCount: Int { runs.withLock { $0 } }

    func install(_ configuration: inout ServiceConfiguration) {
        // A hashing thread stands back behind all others, also on a busy machine.
        configuration.limits.defaultTimeoutMilliseconds = 60_000
        configuration.passwordFunctions = PasswordHasher.Functions(
            hash: { [self] password in
                count()
                return PasswordHasher.Functions.weakArgon2id.hash(password)
            },
            matches: { [self] hash, password in
                count()
                return PasswordHasher.Functions.weakArgon2id.matches(hash, password)
            }
        )
    }

    private func count() {
        runs.withLock { $0 += 1 }
        guard isGated else { return }
        begun.signal()
        gate.wait()
    }
}

/// Runs a service whose passwords are hashed quickly, as ``withService(threads:_:_:)`` does.
func withAccounts(
    threads: Int = 1,
    _ configure: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (UInt16) throws -> Void
) async throws {
    try await withService(threads: threads) {
        CountedPasswords().install(&$0)
        configure(&$0)
    } _: {
        try body($0)
    }
}
