import Synchronization

/// Salts for segments: none twice in a process, as chance would draw them, and no chance in them.
package enum TestSalt {
    private static let count = Atomic<UInt64>(0)

    /// One that no segment has had.
    package static func next() -> UInt64 {
        count.wrappingAdd(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
    }
}
