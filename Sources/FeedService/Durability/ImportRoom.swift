internal import Synchronization

/// The bytes that imports under way may log together, over all loops.
///
/// One import logs up to a frame of posts, a thousand times more than any other change. If each
/// loop could log one behind a single look at the admission, 128 loops would overflow a journal
/// record. So an import reserves its bytes, and then looks at the admission once more. Once no
/// change is admitted any more, the loops log at most these bytes and a short transaction each.
final class ImportRoom: Sendable {
    private let maximumByteCount: Int
    private let reserved = Atomic<Int>(0)

    /// Room for imports of this many bytes in all.
    init(maximumByteCount: Int) {
        self.maximumByteCount = maximumByteCount
    }

    /// Reserves the bytes that an import logs at most; O(1), from any thread.
    ///
    /// - Returns: False where the imports under way leave less room; nothing is reserved then.
    func reserve(_ byteCount: Int) -> Bool {
        let sum = reserved.wrappingAdd(byteCount, ordering: .sequentiallyConsistent).newValue
        guard sum > maximumByteCount else { return true }
        release(byteCount)
        return false
    }

    /// Gives back what an import reserved; its log entries are counted as waiting by then.
    func release(_ byteCount: Int) {
        reserved.wrappingSubtract(byteCount, ordering: .sequentiallyConsistent)
    }
}
