internal import FeedConcurrency
package import FeedLog
import FeedRanking

/// One channel's recent calls behind a lock of their own.
///
/// The lock is held from the lookup of a call, over its change, to its new record. Lock order: the
/// loop's log and the table of channels come before it, and stripes, feeds and voters after it.
package final class ChannelRecord: Sendable {
    /// The channel's identity.
    package let state: ChannelState
    private let calls: Lock<RecentCalls>

    /// The record of a channel that has not called yet, which counts in a host's share.
    init(_ state: ChannelState, share: ChannelShare) {
        self.state = state
        calls = Lock(RecentCalls(channel: state.number, share: share))
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
    /// The channel's record.
    package let record: ChannelRecord
    /// The number of the Hello; calls are fenced once there is a later one.
    package let epoch: UInt64
}
