/// What is left of the limits of one identity, shared by its connections on all loops.
package final class IdentityAllowance: Sendable {
    /// Whose limits.
    package let identity: ClientIdentity
    /// The votes that it may cast now.
    package let votes: RateBucket
    /// The other calls that it may make now.
    package let calls: RateBucket

    /// The allowance of an identity whose buckets will be full at these times.
    init(_ identity: ClientIdentity, _ limits: IdentityLimits, votesFull: UInt64, callsFull: UInt64)
    {
        self.identity = identity
        votes = RateBucket(countPerSecond: limits.votesPerSecond, fullTime: votesFull)
        calls = RateBucket(countPerSecond: limits.callsPerSecond, fullTime: callsFull)
    }
}
