/// The outcome of a numbered call, from which a repeat of the call is answered.
package struct ChannelOutcome: Equatable, BitwiseCopyable, Sendable {
    package var channel: UInt64
    /// The call's number on its channel, from 1.
    package var sequence: UInt64
    /// A hash of the request, which distinguishes a repeat from another call with the same number.
    package var requestHash: UInt32
    package var outcome: Outcome

    package init(channel: UInt64, sequence: UInt64, requestHash: UInt32, outcome: Outcome) {
        self.channel = channel
        self.sequence = sequence
        self.requestHash = requestHash
        self.outcome = outcome
    }
}

/// The result of a numbered call; a repeat gets it together with the current state.
package enum Outcome: Equatable, BitwiseCopyable, Sendable {
    case done
    /// The id of the post that it made, or of the first of several.
    case id(UInt64)
    case items(ItemMask)
}
