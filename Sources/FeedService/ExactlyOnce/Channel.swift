internal import FeedConcurrency
package import FeedLog
internal import FeedRanking
internal import Synchronization

/// A channel that is remembered: its identity, and its recent calls behind a lock of their own.
///
/// The lock is held from the lookup of a call, over its change, to the recording of its outcome. Lock
/// order: the loop's log and the table of channels come before it, and stripes, feeds and voters after
/// it.
package final class Channel: Sendable {
    /// The client's id, the number that the client chose, and the number that the table gave.
    package let identity: ChannelState
    private let calls: Lock<RecentCalls>

    /// A channel without calls, which counts in a host's share.
    init(_ identity: ChannelState, share: ChannelShare) {
        self.identity = identity
        calls = Lock(RecentCalls(channel: identity.number, share: share))
    }

    /// Runs the body with the channel's calls while no other thread has them.
    @inline(__always)
    package func withCalls<Result, Failure: Error>(
        _ body: (inout RecentCalls) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try calls.withLock(body)
    }
}

/// A channel as one connection holds it, until another Hello takes it over.
package struct HeldChannel: Sendable {
    /// The channel, which other connections may have held before.
    package let channel: Channel
    /// The number of the Hello; calls are fenced once there is a later one.
    package let epoch: UInt64

    /// Runs the body with the channel's calls while no other thread has them.
    @inline(__always)
    package func withCalls<Result, Failure: Error>(
        _ body: (inout RecentCalls) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try channel.withCalls(body)
    }
}

/// The limit and the count of the bytes of all channels.
package final class ChannelBudget: Sendable {
    /// The bytes that all channels may take.
    package let limitByteCount: Int
    private let used = Atomic(0)
    private let restored = Atomic(0)

    /// Nothing taken yet.
    package init(limitByteCount: Int) {
        // So that a share can be computed without overflow.
        self.limitByteCount = min(limitByteCount, .max / (2 * ChannelShare.factor))
    }

    package var usedByteCount: Int { used.load(ordering: .relaxed) }

    /// The bytes that are left, as hosts count them.
    ///
    /// Channels of an earlier run may take all, but count as one host's share at most: what they
    /// take beyond that, they give up as soon as it is needed.
    fileprivate var leftByteCount: Int {
        let restored = restored.load(ordering: .relaxed)
        let leftByHosts = limitByteCount - (usedByteCount - restored)
        let share = max(0, leftByHosts) / (ChannelShare.factor + 1) * ChannelShare.factor
        return leftByHosts - min(restored, share)
    }

    /// Whether all channels together keep to the limit with these bytes more.
    func holds(_ byteCount: Int) -> Bool { usedByteCount + byteCount <= limitByteCount }

    fileprivate func add(_ byteCount: Int, isRestored: Bool) {
        used.wrappingAdd(byteCount, ordering: .relaxed)
        if isRestored { restored.wrappingAdd(byteCount, ordering: .relaxed) }
    }
}

/// The bytes that one host's channels take, of those that all may take.
///
/// A host may take three times what is then left for the others. One host alone comes to three
/// quarters of all, two of them to three sevenths each, and some is always left for the next host
/// (the dynamic thresholds of Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998).
/// Several threads count at once, so the share may be passed by what each of them adds.
package final class ChannelShare: Sendable {
    /// The share of a host as a multiple of the bytes that are left.
    static let factor = 3

    /// The memory of a host beside its channels, about.
    static let baseByteCount = 256

    private let budget: ChannelBudget
    private let isRestored: Bool
    private let used = Atomic(0)

    /// The share of a host that has nothing yet.
    ///
    /// Channels of an earlier run, which are restored, may take all.
    package init(of budget: ChannelBudget, isRestored: Bool = false) {
        self.budget = budget
        self.isRestored = isRestored
    }

    /// The bytes that the host's channels take.
    package var usedByteCount: Int { used.load(ordering: .relaxed) }

    /// Whether the host may take these bytes more; with 0, whether it keeps to its share; O(1).
    package func admits(_ byteCount: Int) -> Bool {
        if isRestored { return budget.holds(byteCount) }
        let left = budget.leftByteCount - byteCount
        return usedByteCount + byteCount <= left * Self.factor
    }

    /// Adds to the bytes that the host's channels take; a negative number subtracts.
    func add(_ byteCount: Int) {
        used.wrappingAdd(byteCount, ordering: .relaxed)
        budget.add(byteCount, isRestored: isRestored)
    }
}
