extension FeedStore {
    /// Puts an effect of an earlier run back; for one thread, before any other uses the store.
    package func apply(_ effect: borrowing Effect) throws(RecoveryError) {
    }

    /// A hash of all that effects put back; equal for stores that answer alike.
    package func stateHash() -> UInt64 { 0 }

    /// Calls the body with each post, in no order; O(posts), a stripe's lock held in between.
    package func forEachPost(_ body: (PostState) -> Void) {
    }
}
