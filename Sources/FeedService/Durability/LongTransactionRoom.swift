internal import Synchronization

/// The bytes that long transactions under way may log together, over all loops.
///
/// ImportPosts, CorrectTimes and `AccountErasure` log far more than any other change: an import up to a
/// frame of posts, and the others some 340 KiB. If each loop could log one of them after a single look at
/// the admission, 128 loops would overflow a journal record. So they reserve their bytes, and then look
/// at the admission once more. Once no change is admitted any more, the loops log at most these bytes
/// and a short transaction each.
final class LongTransactionRoom: Sendable {
    private let maximumByteCount: Int
    private let reserved = Atomic<Int>(0)

    init(maximumByteCount: Int) {
        self.maximumByteCount = maximumByteCount
    }

    /// Reserves the bytes that a transaction logs at most; false where those under way leave less room.
    func reserve(_ byteCount: Int) -> Bool {
        let sum = reserved.wrappingAdd(byteCount, ordering: .sequentiallyConsistent).newValue
        guard sum > maximumByteCount else { return true }
        release(byteCount)
        return false
    }

    /// Gives back what a transaction reserved; its log entries are counted as waiting by then.
    func release(_ byteCount: Int) {
        reserved.wrappingSubtract(byteCount, ordering: .sequentiallyConsistent)
    }
}
