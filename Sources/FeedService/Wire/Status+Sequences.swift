internal import FeedProto

/// The refusals of numbered calls.
extension Status {
    /// A read needs no sequence, because a repeat of it changes nothing.
    static func sequenceOfRead(_ sequence: UInt64) -> Status {
        .invalid(
            .badField,
            field: "sequence",
            "sequence is \(sequence), but only calls that change something take one; this one takes 0.",
            actual: sequence
        )
    }

    /// A sequence belongs to a channel, and an anonymous connection has none.
    static var sequenceNeedsIdentity: Status {
        Status(
            code: .unauthenticated,
            reason: .identityRequired,
            message: "A sequence needs an identity: say Hello with a client_id of 16 bytes first."
        )
    }

    /// The sequence is so low that its outcome is forgotten.
    static func sequenceExpired(_ sequence: UInt64, highest: UInt64) -> Status {
        Status(
            code: .failedPrecondition,
            reason: .sequenceExpired,
            message: "sequence is \(sequence), and the highest was \(highest): only the last "
                + "\(RecentCalls.window) are remembered, and whether it was executed is not known.",
            isNotExecuted: false
        )
    }

    /// Another call was executed under this sequence.
    static func sequenceReused(_ sequence: UInt64) -> Status {
        Status(
            code: .failedPrecondition,
            reason: .sequenceReused,
            message: "sequence \(sequence) was another call's, which was executed.",
            isNotExecuted: false
        )
    }

    /// A vote is left of a batch that another caller has sent first.
    static func batchOfAnother(_ sequence: UInt64) -> Status {
        Status(
            code: .failedPrecondition,
            reason: .sequenceReused,
            message: "sequence \(sequence) was another caller's batch, which was counted in part; "
                + "this vote was not counted, and is not counted for this caller."
        )
    }

    /// Another connection has said Hello for the channel.
    static var channelFenced: Status {
        Status(
            code: .failedPrecondition,
            reason: .channelFenced,
            message: "Another connection has taken over this connection's channel of calls."
        )
    }

    /// The call was executed before, and the post or feed of its answer does not exist any more.
    static func executedOnWhatIsGone(_ status: Status) -> Status {
        var status = status
        status.message = "The call was executed before. " + status.message
        status.isNotExecuted = false
        return status
    }
}
