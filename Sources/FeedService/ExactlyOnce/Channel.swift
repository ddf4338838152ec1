internal import FeedConcurrency
package import FeedLog
import FeedRanking

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
