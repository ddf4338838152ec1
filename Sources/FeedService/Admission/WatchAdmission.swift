internal import Synchronization

/// Counts the watches of all loops and bounds them.
final class WatchAdmission: Sendable {
    private let limit: Int
    private let watches = Atomic<Int>(0)

    /// An admission of so many watches.
    init(limit: Int) { self.limit = limit }

    /// The watches that were let in and have not ended.
    var count: Int { watches.load(ordering: .relaxed) }

    /// Lets a watch in, from any thread; false where there are too many.
    func admit() -> Bool {
        guard watches.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
        release()
        return false
    }

    /// A watch has ended.
    func release() { watches.wrappingSubtract(1, ordering: .relaxed) }
}
