internal import FeedJournal
internal import FeedState

extension ServiceConfiguration {
    /// The durability of answers, for the start line.
    var durabilityText: String {
        guard let state else { return "none (all state is in memory and ends with the process)" }
        return switch state.durability {
        case .fsync: "fsync (answers survive a power cut) in \(state.path)"
        case .os: "os (answers survive a crash of this process, not a power cut) in \(state.path)"
        }
    }
}

extension ServiceConfiguration {
    /// A table of channels that remembers none yet.
    var emptyChannels: ChannelTable {
        ChannelTable(
            limits: ChannelTable.Limits(
                byteCount: limits.maximumChannelByteCount,
                quietByteCount: limits.quietChannelByteCount,
                retention: limits.channelRetention,
                shortRetention: limits.shortChannelRetention,
                newChannelBurst: limits.newChannelsPerHost,
                newChannelsPerMinute: limits.newChannelsPerHostMinute
            ),
            collectsEvicted: state != nil
        )
    }
}
