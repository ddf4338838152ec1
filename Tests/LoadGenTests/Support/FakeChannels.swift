import FeedProto

/// What a fake service remembers of the calls of its clients.
struct FakeChannels {
    /// The client and its channel.
    struct Key: Hashable {
        var clientID: [UInt8]
        var channel: UInt32
    }

    /// What became of a call.
    struct Outcome {
        var request: FeedProto.Request
        var ids: [UInt64]
    }

    private struct Channel {
        var highest: UInt64 = 0
        var outcomes: [UInt64: Outcome] = [:]
    }

    private var channels: [Key: Channel] = [:]

    /// Opens a channel: whether it was known, and its last sequence.
    mutating func open(_ key: Key) -> (isKnown: Bool, lastSequence: UInt64) {
        guard let channel = channels[key] else {
            channels[key] = Channel()
            return (false, 0)
        }
        return (true, channel.highest)
    }

    /// Forgets a channel.
    mutating func forget(_ key: Key) {
        channels[key] = nil
    }

    /// The outcome of a call that was executed; a reason where nobody can say, or nil.
    func outcome(_ key: Key, _ sequence: UInt64, _ request: FeedProto.Request) -> Known? {
        guard let channel = channels[key] else { return .refused(.identityRequired) }
        if let outcome = channel.outcomes[sequence] {
            return outcome.request == request ? .executed(outcome.ids) : .refused(.sequenceReused)
        }
        return sequence + 256 <= channel.highest ? .refused(.sequenceExpired) : nil
    }

    /// What is known of a call.
    enum Known {
        case executed([UInt64])
        case refused(Reason)
    }

    /// Remembers what became of a call.
    mutating func record(
        _ key: Key,
        _ sequence: UInt64,
        _ request: FeedProto.Request,
        ids: [UInt64]
    ) {
        guard var channel = channels.removeValue(forKey: key) else { return }
        channel.outcomes[sequence] = Outcome(request: request, ids: ids)
        channel.highest = max(channel.highest, sequence)
        if sequence > 256 { channel.outcomes[sequence - 256] = nil }
        channels[key] = channel
    }
}
