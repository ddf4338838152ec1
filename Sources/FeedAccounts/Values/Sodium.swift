import CSodium

/// The library libsodium.
enum Sodium {
    /// Prepares the library, once; threads may call it at the same time.
    static func prepare() {
        precondition(isPrepared, "libsodium cannot be prepared: the system has no random numbers.")
    }

    private static let isPrepared = sodium_init() >= 0
}
