import CSodium

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
        for (index, byte) in text.enumerated() {
            unsafe (bytes + index).initialize(to: byte)
        }
    }

    deinit {
        unsafe sodium_memzero(bytes, byteCount)
        unsafe bytes.deallocate()
    }

    /// Calls the body with the address and the number of the bytes, as C takes texts.
    func withCharacters<Result>(_ body: (UnsafePointer<CChar>, UInt64) -> Result) -> Result {
        unsafe bytes.withMemoryRebound(to: CChar.self, capacity: max(1, byteCount)) {
            unsafe body($0, UInt64(byteCount))
        }
    }
}
