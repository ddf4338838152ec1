internal import FeedLog
internal import FeedProto

/// How callers get the channels that they number their calls on.
extension ConnectionCalls {
    /// The channel's part of the answer to a Hello.
    struct ChannelAnswer {
        /// Whether the service remembered the channel.
        var wasKnown = false
        /// The highest sequence that was executed on the channel.
        var lastSequence: UInt64 = 0
        /// The refusal of a channel; nil if the caller has one or is anonymous.
        var refusal: Status?
    }

    /// Gives a device's channel to the caller, which returns its earlier one.
    ///
    /// A caller without a channel is introduced, too: only numbered calls need a channel. A caller whose
    /// role may change nothing gets none, because a new channel is a change of the state.
    func openChannel(
        _ channel: UInt32,
        of device: Caller.Device?,
        from caller: inout Caller
    ) -> ChannelAnswer {
        var answer = ChannelAnswer()
        var opening: ChannelTable.Opening?
        if let device {
            do throws(Status) {
                try environment.checkAccess(of: caller, to: .castVote)
                opening = try environment.changeLog.transaction { () throws(Status) in
                    try open(channel, of: device, isLate: false, for: caller)
                }
            } catch {
                answer.refusal = error
            }
        }
        // This Hello may have taken the held channel over. Then it has a newer epoch, and stays open.
        if let held = caller.channel { environment.context.channels.close(held, isLeft: true) }
        caller.introduce(device, on: channel, opening)
        answer.wasKnown = opening?.wasKnown ?? false
        answer.lastSequence = opening?.lastSequence ?? 0
        return answer
    }

    /// Gives the caller the channel that was not available when it said Hello; within a
    /// transaction.
    func openMissedChannel(of caller: inout Caller) throws(Status) -> HeldChannel {
        guard let device = caller.device, let channel = caller.missedChannel else {
            throw .sequenceNeedsIdentity
        }
        let opening = try open(channel, of: device, isLate: true, for: caller)
        caller.hold(opening)
        return opening.held
    }

    private func open(
        _ channel: UInt32,
        of device: Caller.Device,
        isLate: Bool,
        for caller: borrowing Caller
    ) throws(Status) -> ChannelTable.Opening {
        let changeRefusal = environment.context.changeRefusal
        var request = ChannelTable.Request(
            clientHigh: device.high,
            clientLow: device.low,
            channel: channel,
            host: caller.identity
        )
        request.isFurther = caller.hasOpenedChannel
        request.mayAdd = changeRefusal == nil
        request.isLate = isLate
        do throws(ChannelTable.Refusal) {
            return try environment.context.channels.open(request, log: environment.changeLog)
        } catch {
            switch error {
            case .noRoom(let used, let limit):
                throw .tooManyChannels(hostByteCount: used, limit: limit)
            case .tooFast(let wait):
                throw .newChannelsTooFast(
                    perMinute: environment.context.limits.newChannelsPerHostMinute,
                    wait: wait
                )
            case .mayNotAdd:
                guard let changeRefusal else { throw .journalBehind }
                // A late channel belongs to a change, which is refused with it.
                if isLate { environment.context.count(changeRefusal) }
                throw changeRefusal.status
            case .takenOver: throw .channelFenced
            }
        }
    }
}
