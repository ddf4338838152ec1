internal import FeedLog
internal import FeedProto

/// How callers come by the channels that they number their calls on.
extension RequestHandler {
    /// What a Hello's answer says of the channel.
    struct ChannelGreeting {
        /// Whether it was remembered before.
        var wasKnown = false
        /// The highest sequence that was executed on it.
        var lastSequence: UInt64 = 0
        /// Why the caller has none; nil where it has one, or is nobody.
        var refusal: Status?
    }

    /// Gives a device's channel to the caller, who gives its earlier one back.
    ///
    /// A caller for whom there is none is introduced all the same: only numbered calls need one.
    mutating func openChannel(
        _ channel: UInt32,
        of device: Caller.Device?,
        from caller: inout Caller
    ) -> ChannelGreeting {
        var greeting = ChannelGreeting()
        var opening: RecordTable.Opening?
        if let device {
            changeLog.lock()
            defer { changeLog.unlock() }
            do throws(Status) {
                opening = try open(channel, of: device, isLate: false, for: caller)
            } catch {
                greeting.refusal = error
            }
        }
        // Taken over by this very Hello, the old one is not closed: it has a newer epoch.
        if let held = caller.channel { context.channels.close(held, isLeft: true) }
        caller.introduce(device, on: channel, opening)
        greeting.wasKnown = opening?.wasKnown ?? false
        greeting.lastSequence = opening?.lastSequence ?? 0
        return greeting
    }

    /// Gives the caller the channel that was not available when it said Hello; within a
    /// transaction.
    mutating func openMissedChannel(of caller: inout Caller) throws(Status) -> HeldChannel {
        guard let device = caller.device, let channel = caller.missedChannel else {
            throw .sequenceNeedsIdentity
        }
        let opening = try open(channel, of: device, isLate: true, for: caller)
        caller.hold(opening)
        return opening.channel
    }

    private func open(
        _ channel: UInt32,
        of device: Caller.Device,
        isLate: Bool,
        for caller: borrowing Caller
    ) throws(Status) -> RecordTable.Opening {
        let refusalOfChanges = context.refusalOfChanges
        var request = RecordTable.Request(
            clientHigh: device.high,
            clientLow: device.low,
            channel: channel,
            host: ClientHost(caller.host)
        )
        request.isFurther = caller.hasOpenedChannel
        request.mayAdd = refusalOfChanges == nil
        request.isLate = isLate
        do throws(RecordTable.Refusal) {
            return try context.channels.open(request, log: changeLog)
        } catch {
            switch error {
            case .noRoom(let used, let limit):
                throw .tooManyChannels(hostByteCount: used, limit: limit)
            case .tooFast(let wait):
                throw .newChannelsTooFast(
                    perMinute: context.limits.newChannelsPerHostMinute,
                    wait: wait
                )
            case .mayNotAdd: throw refusalOfChanges ?? .journalBehind
            case .takenOver: throw .channelFenced
            }
        }
    }
}
