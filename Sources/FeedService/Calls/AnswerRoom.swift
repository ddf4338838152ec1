internal import FeedTransport

/// The room that the answers of one loop iteration to one connection take in the budget, from
/// before they are built until the connection or the outbox counts what is left of them.
struct AnswerRoom {
    private let budget: BufferBudget
    private var host: HostSlot?
    private var byteCount = 0

    init(_ budget: BufferBudget) { self.budget = budget }

    /// The next answers go to this host.
    mutating func begin(for host: HostSlot) {
        self.host = host
    }

    /// Takes room for an answer of at most this many bytes; false if there is none, and then the
    /// answer must not be built.
    mutating func reserve(_ greatestByteCount: Int) -> Bool {
        guard let host else { return true }
        guard budget.reserve(greatestByteCount, for: host) else { return false }
        byteCount += greatestByteCount
        return true
    }

    /// Gives back the room beyond these bytes, which the encoded answers have.
    mutating func shrink(to encodedByteCount: Int) {
        let surplus = byteCount - encodedByteCount
        guard surplus > 0 else { return }
        budget.addReserved(-surplus)
        byteCount -= surplus
    }

    mutating func end() {
        shrink(to: 0)
    }
}
