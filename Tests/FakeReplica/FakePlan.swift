package import FeedReplica

/// A record of the cluster's log.
package struct FakeEntry: Equatable, Sendable {
    package let index: UInt64
    package let term: UInt64
    package let kind: EntryKind
    /// Empty for all kinds but a batch.
    package let body: [UInt8]
}

/// What a cluster does by chance, all of it from the seed.
package struct FakePlan: Sendable {
    package var seed: UInt64
    /// The most turns of a replica's loop that a commit is late; 0 commits all at once.
    package var latestCommit = 0
    /// One proposal in so many is refused, for the reason 3, 5 or 6; 0 is none.
    package var refusesOneIn = 0
    /// After one proposal in so many another node leads, until the next HELLO; 0 is none.
    package var deposesOneIn = 0
    /// After one proposal in so many the session ends, with a word or without; 0 is none.
    package var endsOneIn = 0

    /// Commits all at once, and has no accidents.
    package init(seed: UInt64 = 1) { self.seed = seed }
}

/// What a replica may do wrong, so that a test shows that its service's audit finds it.
package enum FakeFault: Hashable, Sendable {
    /// COMMITTED is said of records that are appended only.
    case earlyCommitted
    /// ROLE 1 is said ahead of the entries up to its index.
    case earlyRole
    /// A proposal of any index is appended as the next one.
    case noIndexFence
    /// STATUS and TRANSFER are not answered.
    case silent
}
